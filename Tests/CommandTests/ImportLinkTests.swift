import Foundation
import Testing

/// Relationships that lead to objects that are not imported.
@Suite("Links of an import that lead nowhere")
struct ImportLinkTests {
  private let imports: ImportFolder
  private var folder: CommandFolder { imports.folder }

  init() throws { imports = try ImportFolder() }

  private static func keeper(_ key: String, _ links: String = "", born: String = "0") -> String {
    #"{"entity":"Keeper",\#(key)"attributes":{"birthDate":\#(born)},"relationships":{\#(links)}}"#
  }

  @Test("Whatever kind of link it is, one code and one message: file, line, entity, relationship and key")
  func dangling() throws {
    let one = Self.keeper(#""key":1,"#) + "\n"
    for (line, words) in [
      (Self.keeper(#""key":2,"#, #""boss":77"#), "Keeper, relationship boss: there is no Keeper with the key 77"),
      (Self.keeper("", #""boss":77"#), "Keeper, relationship boss: there is no Keeper with the key 77"),
      (
        Self.keeper("", #""boss":null,"minions":[1,77]"#),
        "Keeper, relationship minions: there is no Keeper with the key 77"
      ),
      (
        Self.keeper("", #""animals":[{"entity":"Lion","key":7}]"#),
        "Keeper, relationship animals: there is no Animal with the key 7"
      ),
      (Self.keeper("", #""tags":[5]"#), "Keeper, relationship tags: there is no Tag with the key 5"),
      (Self.keeper("", #""friends":[77]"#), "Keeper, relationship friends: there is no Keeper with the key 77"),
      (
        #"{"entity":"Tag","relationships":{"keepers":[1,77]}}"#,
        "Tag, relationship keepers: there is no Keeper with the key 77"
      ),
      (
        #"{"entity":"Lion","attributes":{"name":"Leo"},"relationships":{"prey":[3]}}"#,
        "Lion, relationship prey: there is no Tag with the key 3"
      ),
    ] {
      // By checkpoints or without, the error would come again, and nothing is left to go on with.
      for options in [[], ["--checkpoint-every", "1B"]] {
        let path = try imports.write("a.jsonl", one + line)
        try imports.expectFault([path], ["\(path): line 2: \(words)", "must be that of an object"], options: options)
      }
    }
  }

  @Test("What is its own inverse may be said by either object: both have it then, unless the list of the other says no")
  func ownInverse() throws {
    let keepers = [Self.keeper(#""key":1,"#, #""friends":[2]"#), Self.keeper(#""key":2,"#)].joined(separator: "\n")
    let store = folder.newPath("own") + ".sqlite"
    let outcome = try imports.importing([imports.write("own.jsonl", keepers)], to: store)
    #expect(outcome.code == 0, "\(outcome)")
    let exported = try folder.run("godwit", ["export", store, "--to-many"]).output
    for list in [#""friends":[2]"#, #""friends":[1]"#] { #expect(exported.contains(list), "\(exported)") }
    let verified = try folder.run("godwit", ["verify", store])
    #expect(verified.code == 0, "\(verified)")
    let contradiction = keepers.replacing(#""relationships":{}"#, with: #""relationships":{"friends":[]}"#)
    try imports.expectFault(
      "both.jsonl", contradiction, ["line 1: friends leads to the object 2", "leave one of the sides out"])
  }

  @Test("A link in CSV is named with the file of the object that has it")
  func tables() throws {
    let keepers = "@key,birthDate,animals\n1,0,7\n"
    let path = try imports.write("Keeper.csv", keepers)
    let lions = try imports.write("Lion.csv", "@key,name\n8,Leo\n")
    try imports.expectFault(
      [path, lions], ["\(path): line 2: Keeper, relationship animals: there is no Animal with the key 7."])
    let lonely = try imports.write("Lion.csv", "@key,name,keeper\n8,Leo,1\n9,Lea,9\n10,Lou,9\n")
    let owners = try imports.write("Keeper.csv", "@key,birthDate\n1,0\n")
    try imports.expectFault(
      [owners, lonely],
      ["\(lonely): line 3: ", "relationship keeper: there is no Keeper with the key 9 (one of 2 such keys)"])
  }

  /// Lines of which one is left out and one leads to its object, the number of that one, and what is said of it.
  private static let leadingToLeftOut: [(lines: [String], number: Int, words: String)] = {
    let (wrong, lion) = (keeper(#""key":1,"#, born: #""x""#), #"{"entity":"Lion","key":7,"attributes":{"name":"#)
    let (leo, first) = (lion + #""Leo"},"relationships":{"keeper":1}}"#, "which was left out with line 1.")
    let tag = #"{"entity":"Tag","key":2,"#
    return [
      ([wrong, leo], 2, "no Keeper with the key 1, \(first)"),
      (
        [keeper(#""key":1,"#, #""animals":[{"entity":"Lion","key":7}]"#), lion + "7}}"], 1,
        "no Animal with the key 7, which was left out with line 2."
      ),
      ([wrong, tag + #""relationships":{"keepers":[1]}}"#], 2, "no Keeper with the key 1, \(first)"),
      ([tag + #""attributes":{"label":3}}"#, keeper("", #""tags":[2]"#)], 2, "no Tag with the key 2, \(first)"),
      (["no JSON", leo], 2, "no Keeper with the key 1; 1 line was left out."),
      ([tag + #""key":"y"}"#, keeper("", #""tags":[{"label":"x"}]"#)], 2, "which no object has (1 line was left out)"),
    ]
  }()

  @Test("An object that was left out is named with its line by the error of what leads to it, and the list is kept")
  func leftOut() throws {
    for (lines, number, words) in Self.leadingToLeftOut {
      let (path, list) = (try imports.write("a.jsonl", lines.joined(separator: "\n")), folder.newPath("r.csv"))
      try imports.expectFault(
        [path], ["\(path): line \(number): ", words], options: ["--max-rejects", "3", "--rejects", list])
      #expect(try String(contentsOfFile: list, encoding: .utf8).contains(path))
    }
  }

  @Test("What is said of a line that was left out is enough to mend it: file, line, and where the list is")
  func advice() throws {
    let keepers = try imports.write("Keeper.csv", "@key,birthDate\n1,x\n")
    let lions = try imports.write("Lion.csv", "@key,name,keeper\n8,Leo,1\n")
    let list = folder.newPath("r.csv")
    try imports.expectFault(
      [keepers, lions],
      [
        "\(lions): line 2: ", "which was left out with line 2 of \(keepers). ",
        "Correct line 2 of \(keepers), or take the key out of line 2. \(list) lists the lines that were left out",
      ], options: ["--max-rejects", "3", "--rejects", list])
    #expect(try String(contentsOfFile: list, encoding: .utf8).split(separator: "\r\n").count == 2)
  }

  @Test("Two sides that disagree are told by the object, the relationship and both keys")
  func sides() throws {
    let lion = #"{"entity":"Lion","key":3,"attributes":{"name":"Leo"}}"#
    let lines = [1, 2].map { Self.keeper("\"key\":\($0),", #""animals":[{"entity":"Lion","key":3}]"#) } + [lion]
    try imports.expectFault(
      "a.jsonl", lines.joined(separator: "\n"),
      [
        "Animal 3, relationship keeper: the two sides of the relationship lead to different objects, with the keys 1 and 2"
      ])
  }

  @Test("An object of another entity than a line says is an error of that line")
  func otherEntity() throws {
    let model = folder.newPath("Family.xcdatamodel")
    try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
    try """
    <?xml version="1.0" encoding="UTF-8"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
    <entity name="Thing">
    <relationship name="next" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Thing" inverseName="before" inverseEntity="Thing"/>
    <relationship name="before" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Thing" inverseName="next" inverseEntity="Thing"/>
    </entity>
    <entity name="Part" parentEntity="Thing"/>
    </model>
    """.write(toFile: model + "/contents", atomically: false, encoding: .utf8)
    let path = try imports.write(
      "a.jsonl",
      #"{"entity":"Thing","key":1}"# + "\n"
        + #"{"entity":"Part","key":2,"relationships":{"next":{"entity":"Part","key":1}}}"#)
    let outcome = try folder.run("godwit", ["import", model, path, "--output", imports.store])
    #expect(outcome.code == 20 && outcome.error.contains("\(path): line 2: "), "\(outcome)")
    #expect(outcome.error.contains("relationship next: the object with the key 1 is of another entity"), "\(outcome)")
  }
}
