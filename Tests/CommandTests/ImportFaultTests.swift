import Foundation
import Testing

/// What is wrong in files for an import, and what would be written over.
@Suite("Faults of an import")
struct ImportFaultTests {
  private let imports: ImportFolder
  private var folder: CommandFolder { imports.folder }

  init() throws { imports = try ImportFolder() }

  // MARK: What is there already

  @Test("Files with external data that are the new store's already stay as they are, and are counted")
  func ownFolder() throws {
    let (store, _) = try ZooModel.store(folder)
    let lines = try imports.write(
      "zoo.jsonl", expectLook(["export", store, "--to-many", "--dates", "seconds"], in: folder))
    let files = folder.file(".Zoo_SUPPORT/_EXTERNAL_DATA")
    let bytes = try CommandFolder.bytes(files + "/" + ZooModel.photo)
    try FileManager.default.removeItem(atPath: store)
    let outcome = try imports.importing([lines], ["--external", files], to: store)
    #expect(outcome.code == 0 && outcome.output.contains("external files: 1 beside the store"), "\(outcome)")
    #expect(try CommandFolder.bytes(files + "/" + ZooModel.photo) == bytes && bytes.count == 200_000)
    // The same through a link to the folder.
    try FileManager.default.removeItem(atPath: store)
    let link = folder.newPath("link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: files)
    #expect(try imports.importing([lines], ["--external", link], to: store).code == 0)
    #expect(try CommandFolder.bytes(files + "/" + ZooModel.photo) == bytes)
  }

  @Test("Another file of the same name is not written over; a failure afterwards leaves no copies")
  func foreignFile() throws {
    let files = folder.newPath("files")
    try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: true)
    try "new".write(toFile: files + "/" + ZooModel.photo, atomically: false, encoding: .utf8)
    let line = #"{"entity":"Keeper","key":1,"attributes":{"birthDate":0,"photo":{"externalFile":"\#(ZooModel.photo)"}}"#
    let path = try imports.write("a.jsonl", line + "}")
    let dangling = try imports.write("b.jsonl", line + #","relationships":{"boss":77}}"#)
    try imports.expectFault(
      [dangling], ["line 1: Keeper, relationship boss: there is no Keeper with the key 77"],
      options: ["--external", files])
    #expect(!FileManager.default.fileExists(atPath: folder.file(".New_SUPPORT")))
    let there = folder.file(".New_SUPPORT/_EXTERNAL_DATA")
    try FileManager.default.createDirectory(atPath: there, withIntermediateDirectories: true)
    try "old".write(toFile: there + "/" + ZooModel.photo, atomically: false, encoding: .utf8)
    try imports.expectFault(
      [path], [there, "another file stands", "Choose another --output"], options: ["--external", files])
    #expect(try String(contentsOfFile: there + "/" + ZooModel.photo, encoding: .utf8) == "old")
    // One with the same bytes was left by an import that was killed.
    try "new".write(toFile: there + "/" + ZooModel.photo, atomically: false, encoding: .utf8)
    #expect(try imports.importing([path], ["--external", files]).code == 0)
  }

  @Test("--external that names no folder is refused before anything is read")
  func noFolder() throws {
    let path = try imports.write("a.jsonl", "no JSON")
    try imports.expectFault([path], ["no such folder"], options: ["--external", folder.newPath("nothing")], code: 64)
    try imports.expectFault([path], ["names a file, and not a folder"], options: ["--external", path])
  }

  @Test("--rejects replaces nothing: no input, no model, not the store; and is no input of the next import")
  func rejectsPath() throws {
    let path = try imports.write("a.jsonl", #"{"entity":"Tag"}"#)
    let store = folder.file("New.sqlite")
    let inputs = URL(fileURLWithPath: path).deletingLastPathComponent().path
    for (list, words) in [
      (path, ["over what the command reads"]), (imports.model + "/contents", ["over what the command reads"]),
      (try imports.write("old.txt", ""), ["exists already"]),
      (store, ["would write over a store"]),
      (store + "-wal", ["would write over a store"]),
    ] {
      try imports.expectFault([path], words, options: ["--max-rejects", "1", "--rejects", list])
    }
    try imports.expectFault(
      [inputs], ["among the files to import"], options: ["--max-rejects", "1", "--rejects", inputs + "/r.csv"])
    #expect(try String(contentsOfFile: path, encoding: .utf8) == #"{"entity":"Tag"}"#)
  }

  // MARK: Keys and URIs

  @Test("The key of a URI is the object's; entity, key and store of URIs agree, or the line is named")
  func uris() throws {
    let store = folder.file("New.sqlite")
    let lines = try imports.write(
      "a.jsonl",
      """
      {"entity":"Tag","uri":"x-coredata://\(ExampleFolder.uuid)/Tag/p7"}
      {"entity":"Tag","uri":"x-coredata://\(ExampleFolder.uuid)/Tag/p9"}
      {"uri":"x-coredata://\(ExampleFolder.uuid)/Tag/p8","key":8}
      {"entity":"Tag"}
      """)
    #expect(try imports.importing([lines], to: store).code == 0)
    #expect(
      try ExampleFolder.rows(store, "SELECT Z_PK AS k FROM ZTAG ORDER BY 1") == ["[k:7]", "[k:8]", "[k:9]", "[k:10]"])
    try FileManager.default.removeItem(atPath: store)
    let first = #"{"entity":"Tag","key":1,"uri":"x-coredata://\#(ExampleFolder.uuid)/Tag/p1"}"# + "\n"
    let other = "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"
    for (line, word) in [
      (#"{"entity":"Tag","key":2,"uri":"x-coredata://\#(ExampleFolder.uuid)/Tag/p3"}"#, "key 3"),
      (#"{"entity":"Tag","key":2,"uri":"x-coredata://\#(ExampleFolder.uuid)/Lion/p2"}"#, "entity Lion"),
      (#"{"entity":"Tag","key":2,"uri":"x-coredata://\#(other)/Tag/p2"}"#, "of the store \(other)"),
      (#"{"entity":"Tag","key":2,"uri":"Tag/p2"}"#, "is no URI"),
      (
        #"{"entity":"Tag","key":2,"relationships":{"keepers":["x-coredata://\#(other)/Keeper/p2"]}}"#,
        "of the store \(other)"
      ),
    ] { try imports.expectFault("a.jsonl", first + line, ["line 2: ", word]) }
    try imports.expectFault(
      "Tag.csv", "@key,@uri\n1,x-coredata://A/Tag/p1\n2,x-coredata://A/Tag/p2\n3,x-coredata://A/Tag/p4\n",
      ["line 4: ", "key 4"])
  }

  @Test("Keys that would go beyond 64 bits are an error of their line")
  func largestKey() throws {
    let (large, small) = (#"{"entity":"Tag","key":9223372036854775807}"#, #"{"entity":"Tag"}"#)
    try imports.expectFault("a.jsonl", large + "\n" + small, ["line 2: ", "9223372036854775807"])
    try imports.expectFault("a.jsonl", small + "\n" + large, ["line 2: ", "9223372036854775807"])
  }

  @Test("A link to the key 0 is an error, and so is a relationship that is given twice")
  func links() throws {
    let lion = #"{"entity":"Lion","key":1,"attributes":{"name":"Leo"},"relationships":"#
    for value in ["0", "-1", #"{"entity":"Keeper","key":0}"#] {
      try imports.expectFault("a.jsonl", lion + #"{"keeper":\#(value)}}"#, ["line 1: ", "keys are above 0"])
    }
    try imports.expectFault("a.jsonl", lion + #"{"prey":[0]}}"#, ["line 1: ", "keys are above 0"])
    try imports.expectFault(
      "Lion.csv", "name,keeper,keeper.id\nLeo,1,2\n", ["line 2: ", "keeper is given twice"],
      options: ["--unique", "Keeper.id"])
    try imports.expectFault(
      "Tag.csv", "label,keepers,keepers@entity\na,x-coredata://A/Keeper/p1,Keeper\n", ["line 2: ", "keepers"])
  }

  @Test("A list names all objects: an object that leads to its owner and is not in it is an error; null says nothing")
  func sides() throws {
    let keeper =
      #"{"entity":"Keeper","key":1,"attributes":{"birthDate":0},"relationships":{"animals":[{"entity":"Lion","key":1}]}}"#
    let lions = [
      #"{"entity":"Lion","key":1,"attributes":{"name":"Leo"},"relationships":{"keeper":null}}"#,
      #"{"entity":"Lion","key":2,"attributes":{"name":"Lea"},"relationships":{"keeper":1}}"#,
    ]
    try imports.expectFault(
      "a.jsonl", ([keeper] + lions).joined(separator: "\n"),
      ["line 3: keeper leads to the object 1, and the list of that in line 1 does not have this object"])
    let (first, second) = (
      try imports.write("a.jsonl", keeper), try imports.write("b.jsonl", lions.joined(separator: "\n"))
    )
    try imports.expectFault([first, second], [second, "line 2: ", "in line 1 of \(first)"])
    let good = try imports.write("c.jsonl", keeper + "\n" + lions[0])
    #expect(try imports.importing([good], to: folder.newPath("good.sqlite")).code == 0)
    // Many-to-many, from both sides, of objects whose keys are given out as well.
    let tagged = #"{"entity":"Keeper","key":1,"attributes":{"birthDate":0},"relationships":{"tags":[5]}}"#
    try imports.expectFault(
      "a.jsonl", tagged + "\n" + #"{"entity":"Tag","key":5,"relationships":{"keepers":[]}}"#,
      ["line 1: tags leads to the object 5", "line 2"])
    try imports.expectFault(
      "a.jsonl",
      tagged + "\n" + #"{"entity":"Tag","key":5}"# + "\n" + #"{"entity":"Tag","relationships":{"keepers":[1]}}"#,
      ["line 3: keepers leads to the object 1", "line 1"])
  }
}
