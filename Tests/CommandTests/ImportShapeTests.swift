import Foundation
import Testing

@Suite("Lines of an import that have one shape")
struct ImportShapeTests {
  private let folder: CommandFolder
  private let model: String

  init() throws {
    folder = try CommandFolder()
    model = folder.newPath("Every.xcdatamodel")
    try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
    let attributes = Self.types.map { #"<attribute name="\#($0)" optional="YES" attributeType="\#($1)"/>"# }
    try """
    <?xml version="1.0" encoding="UTF-8"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
    <entity name="Thing">\(attributes.joined())
    <relationship name="next" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Thing" inverseName="before" inverseEntity="Thing"/>
    <relationship name="before" optional="YES" toMany="YES" ordered="YES" deletionRule="Nullify" destinationEntity="Thing" inverseName="next" inverseEntity="Thing"/>
    </entity>
    <entity name="Part" parentEntity="Thing"/>
    </model>
    """.write(toFile: model + "/contents", atomically: false, encoding: .utf8)
  }

  private static let types = [
    ("b", "Boolean"), ("d", "Date"), ("dbl", "Double"), ("dec", "Decimal"), ("f", "Float"), ("i16", "Integer 16"),
    ("i64", "Integer 64"), ("s", "String"), ("u", "UUID"), ("uri", "URI"),
  ]

  /// Values as lines have them, usual and unusual, right and wrong.
  private static let values = [
    "0", "1", "-0", "-1", "7", "007", "1.0", "0.1", "1e3", "1E-3", "-0.0", "1.", ".5", "+1", "32768", "-32768",
    "9007199254740993", "9223372036854775807", "9223372036854775808", "0.30000000000000004", "123456789.12345678901",
    "140737488355328.0", "1e400", "0.1234567890123456789012345", "null", "true", "false", "nul", "\"\"", #""a""#,
    #""é""#, #""a\"b""#, #""\u00e9""#, "\"a\u{1}\"", #""2019-01-01""#, #""2019-01-01T00:00:00.5Z""#, #""yesterday""#,
    #""6E0E7C0B-9D3B-4E67-A6C4-0B5C3B1D7F21""#, #""6e0e7c0b-9d3b-4e67-a6c4-0b5c3b1d7f21""#, #""Infinity""#, "{}", "[1]",
  ]

  private func importing(_ lines: String, _ name: String) throws -> (store: String, rejects: String) {
    let (path, store, list) = (
      folder.newPath("Thing.jsonl"), folder.file(name + ".sqlite"), folder.newPath("rejects.csv")
    )
    try lines.write(toFile: path, atomically: false, encoding: .utf8)
    let outcome = try folder.run(
      "godwit",
      [
        "import", model, path, "--max-rejects", "1000", "--rejects", list, "--uuid", ExampleFolder.uuid, "--output",
        store,
      ])
    #expect(outcome.code == (lines.contains("Other") || lines.contains("yesterday") ? 10 : 0), "\(outcome)")
    return (store, try String(contentsOfFile: list, encoding: .utf8).replacing(path, with: ""))
  }

  /// A blank makes a line one that is read as a whole.
  private func expectSame(_ lines: [String]) throws {
    let fast = try importing(lines.joined(separator: "\n"), "fast\(lines.count)")
    let slow = try importing(lines.map { "\u{7B} " + $0.dropFirst() }.joined(separator: "\n"), "slow\(lines.count)")
    #expect(try CommandFolder.bytes(fast.store) == CommandFolder.bytes(slow.store))
    func reasons(_ list: String) -> [String] {
      list.split(separator: "\r\n").map { $0.components(separatedBy: ", at byte")[0] }
    }
    #expect(reasons(fast.rejects) == reasons(slow.rejects))
  }

  @Test("Every value of every type means the same in a line of a known shape as in one that is read as a whole")
  func values() throws {
    var lines: [String] = []
    for (name, _) in Self.types {
      // The first one has the shape, and fixes the store's UUID.
      lines.append(
        #"{"entity":"Thing","key":\#(lines.count + 1),"uri":"x-coredata://\#(ExampleFolder.uuid)/Thing/p\(lines.count + 1)","attributes":{"\#(name)":null}}"#
      )
      for value in Self.values {
        lines.append(
          #"{"entity":"Thing","key":\#(lines.count + 1),"uri":"x-coredata://\#(ExampleFolder.uuid)/Thing/p\(lines.count + 1)","attributes":{"\#(name)":\#(value)}}"#
        )
      }
    }
    try expectSame(lines)
  }

  @Test("Links, keys that are given out, and lines that leave things out: the same store, whatever their order")
  func links() throws {
    var lines = [#"{"entity":"Thing","key":1,"attributes":{"s":"first"},"relationships":{"next":null}}"#]
    for key in 2...60 {
      let entity = key % 3 == 0 ? "Part" : "Thing"
      let target = key % 2 == 0 ? #"{"entity":"Thing","key":1}"# : key % 5 == 0 ? "null" : #"{"entity":"Part","key":3}"#
      let own = key % 7 == 0 ? "" : #""key":\#(key),"#
      let before = key == 44 ? #","before":[4,2]"# : ""
      lines.append(
        #"{"entity":"\#(entity)",\#(own)"attributes":{"s":"n\#(key)","i16":\#(key)},"relationships":{"next":\#(key == 2 || key == 4 ? "null" : target)\#(before)}}"#
      )
    }
    try expectSame(lines + [#"{"entity":"Part","key":0}"#, #"{"entity":"Other"}"#, "{}", #"{"entity":"Part"}"#])
  }

  @Test("Fields of CSV mean the same whether they are in quotation marks that need a whole reading or not")
  func fields() throws {
    var stores: [String] = []
    for (name, mark) in [("plain", ""), ("quoted", "\"")] {
      let (path, store) = (folder.newPath(name) + ".csv", folder.file(name + ".sqlite"))
      var text = "@entity,@key,b,d,dbl,i16,s,next,next@entity\r\n"
      for key in 1...40 {
        // A text with a doubled mark is read as a whole.
        let end = mark.isEmpty ? "t\(key)" : "\"t\(key)\"\"\""
        text += "Thing,\(key),\(mark)true\(mark),2019-01-\(key % 9 + 10),\(key).5,\(key),\(end),"
        text += key % 4 == 0 ? ",\r\n" : "\(mark)\(key)\(mark),Thing\r\n"
      }
      try text.write(toFile: path, atomically: false, encoding: .utf8)
      let outcome = try folder.run(
        "godwit", ["import", model, path, "--uuid", ExampleFolder.uuid, "--output", store])
      #expect(outcome.code == 0, "\(outcome)")
      stores.append(store)
    }
    let words = ["--models", model, "--columns", "b", "d", "dbl", "i16", "next"]
    let texts = try stores.map { try expectLook(["export", $0] + words, in: folder) }
    #expect(texts[0] == texts[1] && texts[0].split(separator: "\n").count == 40)
  }

  @Test("A line without entity has that of the file's name, or is wrong, whatever the lines before it have")
  func emptyEntities() throws {
    for (name, code) in [("Thing.csv", Int32(0)), ("Other.csv", 20)] {
      let (path, store) = (folder.newPath(name) + "/" + name, folder.file(name + ".sqlite"))
      try FileManager.default.createDirectory(
        atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
      let text = "@entity,@key,s\nPart,1,a\nPart,2,b\n,,c\n"
      try text.write(toFile: path, atomically: false, encoding: .utf8)
      let outcome = try folder.run("godwit", ["import", model, path, "--output", store, "--quiet"])
      #expect(outcome.code == code, "\(outcome)")
      guard code == 0 else {
        #expect(outcome.error.contains("line 4"), "\(outcome)")
        continue
      }
      let found = try expectLook(["export", store, "Thing", "--where", "s == 'c'"], in: folder)
      #expect(found.contains(#""entity":"Thing""#), "\(found)")
    }
  }

  @Test("A condition on a Float finds what export shows")
  func floats() throws {
    let (path, store) = (folder.newPath("Thing.jsonl"), folder.file("floats.sqlite"))
    let lines = ["0.1", "4.2", "0.5"].map { #"{"entity":"Thing","attributes":{"f":\#($0)}}"# }
    try lines.joined(separator: "\n").write(toFile: path, atomically: false, encoding: .utf8)
    let outcome = try folder.run("godwit", ["import", model, path, "--output", store, "--quiet"])
    #expect(outcome.code == 0, "\(outcome)")
    for (condition, count) in [("f = 0.1", 1), ("f IN {0.1, 4.2}", 2), ("f != 4.2", 2), ("f <= 0.1", 1)] {
      let found = try expectLook(["export", store, "Thing", "--where", condition], in: folder)
      #expect(found.split(separator: "\n").count == count, "\(condition): \(found)")
    }
  }
}
