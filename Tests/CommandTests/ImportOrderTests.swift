import Foundation
import Testing

/// Objects in the order of their keys need no sorting, and others do.
@Suite("The order of the lines of an import")
struct ImportOrderTests {
  private let imports: ImportFolder
  private var folder: CommandFolder { imports.folder }
  private static let count = 12_000

  init() throws { imports = try ImportFolder() }

  private static func thing(_ key: Int) -> String {
    #"{"entity":"URLThing","key":\#(key),"attributes":{"a":"thing number \#(key) of \#(count)"}}"#
  }

  private static func keeper(_ key: Int) -> String {
    let animals = key % 10 == 0 ? #","animals":[{"entity":"Lion","key":\#(key)}]"# : ""
    return
      #"{"entity":"Keeper","key":\#(key),"attributes":{"birthDate":\#(key)},"relationships":{"boss":\#(key / 2 + 1)\#(animals)}}"#
  }

  private static func lion(_ key: Int) -> String {
    #"{"entity":"Lion","key":\#(key),"attributes":{"name":"L\#(key)"}}"#
  }

  /// The store that these lines make.
  private func store(_ lines: [String], _ words: [String] = []) throws -> Data {
    let (path, store) = (try imports.write("a.jsonl", lines.joined(separator: "\n")), folder.newPath("a.sqlite"))
    let outcome = try imports.importing([path], ["--uuid", ExampleFolder.uuid] + words, to: store)
    #expect(outcome.code == 0, "\(outcome)")
    return try CommandFolder.bytes(store)
  }

  @Test("The same objects give the same store whatever the order of their lines")
  func orders() throws {
    let keys = 1...Self.count
    let (things, keepers) = (keys.map(Self.thing), keys.map(Self.keeper))
    let lions = keys.filter { $0 % 3 != 1 || $0 % 10 == 0 }.map(Self.lion)
    let wanted = try store(things + keepers + lions)
    #expect(try store(lions.reversed() + keepers.reversed() + things.reversed()) == wanted)
    // Table after table in turns, which is followed for a while.
    var mixed: [String] = []
    for key in keys { mixed += [Self.thing(key), Self.keeper(key)] }
    #expect(try store(mixed + lions) == wanted)
    // Two halves, each in order, with one between them that is read as a whole.
    let halves = things[(Self.count / 2)...] + lions + things[..<(Self.count / 2)] + keepers
    #expect(try store(Array(halves.dropLast()) + ["{ " + halves.last!.dropFirst()]) == wanted)
  }

  @Test("Objects without keys get those of their lines, whether all lines are alike or not")
  func withoutKeys() throws {
    let given = (1...Self.count).map(Self.thing)
    let without = given.map { $0.replacing(/"key":[0-9]+,/, with: "") }
    #expect(try store(without) == store(given))
    // Those without keys come behind the largest one.
    let half = Self.count / 2
    #expect(try store(Array(without[half...]) + given[..<half]) == store(given))
    #expect(try store(Array(given[..<half].reversed()) + without[half...]) == store(given))
  }

  @Test("A key that stands twice is named with both lines, in order or not")
  func twice() throws {
    let lines = (1...Self.count).map(Self.thing)
    try imports.expectFault(
      "a.jsonl", (lines + [Self.thing(700)]).joined(separator: "\n"),
      ["lines 700 and \(Self.count + 1): two objects have the key 700"])
    try imports.expectFault(
      "a.jsonl", (lines.prefix(700) + [Self.thing(700)] + lines.dropFirst(700)).joined(separator: "\n"),
      ["lines 700 and 701: two objects have the key 700"])
  }

  @Test("A wrong line in the middle of many is named with its number, in JSON and in CSV")
  func wrongLine() throws {
    var lines = (1...Self.count).map(Self.thing)
    lines[8122] = #"{"entity":"URLThing","key":8123,"attributes":{"a":7}}"#
    lines.insert("", at: 100)
    try imports.expectFault("a.jsonl", lines.joined(separator: "\n"), ["line 8124: a is of type string"])
    var table = ["@key,a"] + (1...Self.count).map { "\($0),a text that is long enough for many pieces: \($0)" }
    table[5] = "5,\"over\ntwo lines\""
    table[9000] = "9000,a,b"
    for end in ["\n", "\r\n"] {
      try imports.expectFault("URLThing.csv", table.joined(separator: end), ["line 9002: the line has 3 fields"])
    }
    // Of two faults the first one.
    table[7000] = "7000,a,b"
    table.append("\"no end")
    try imports.expectFault("URLThing.csv", table.joined(separator: "\n"), ["line 7002: the line has 3 fields"])
  }

  @Test(
    "Killed again and again, an import of objects in order ends with the same bytes",
    .enabled(if: StopLibrary.isPossible))
  func killed() throws {
    let lines = (1...Self.count).map(Self.thing) + (1...Self.count).map(Self.lion) + (1..<Self.count).map(Self.keeper)
    let input = try imports.write("a.jsonl", lines.joined(separator: "\n"))
    let (store, wanted) = (folder.file("New.sqlite"), folder.newPath("wanted.sqlite"))
    func words(_ store: String) -> [String] {
      ["import", imports.model, input, "--output", store, "--checkpoint-every", "200kB"]
    }
    #expect(try folder.run("godwit", words(wanted)).code == 0)
    #expect(try imports.killedOften(words(store), ending: 0) > 3)
    #expect(try CommandFolder.bytes(store) == CommandFolder.bytes(wanted))
  }
}
