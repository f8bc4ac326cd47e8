import Foundation
import Testing

/// What is given to an import that it cannot read, or would read twice.
@Suite("Inputs of an import")
struct ImportInputTests {
  private let imports: ImportFolder
  private var folder: CommandFolder { imports.folder }

  init() throws { imports = try ImportFolder() }

  // MARK: Values that are to be unique

  @Test("--unique refuses equal values with both lines, though nothing refers to them")
  func unique() throws {
    let keeper = #"{"entity":"Keeper","attributes":{"birthDate":0,"id":1}}"#
    let options = ["--unique", "Keeper.id"]
    let words = "two objects have Keeper.id = 1, and --unique Keeper.id says that no two have the same"
    try imports.expectFault(
      [try imports.write("a.jsonl", keeper + "\n" + keeper)], ["lines 1 and 2: \(words)"], options: options)
    let (first, second) = (try imports.write("a.jsonl", keeper), try imports.write("b.jsonl", "\n" + keeper))
    try imports.expectFault(
      [first, second], ["\(second): line 2: \(words), as in line 1 of \(first)"], options: options)
    // Lines that are alike are read together.
    var lines = (1...9000).map { #"{"entity":"Keeper","key":\#($0),"attributes":{"birthDate":0,"id":\#($0)}}"# }
    lines.append(#"{"entity":"Keeper","key":9001,"attributes":{"birthDate":0,"id":4000}}"#)
    for every in [[], ["--checkpoint-every", "20kB"]] {
      try imports.expectFault(
        [try imports.write("a.jsonl", lines.joined(separator: "\n"))],
        ["lines 4000 and 9001: two objects have Keeper.id = 4000"],
        options: options + every)
    }
  }

  @Test("--unique is about the entity that it names with its sub-entities, and not about null or what is left out")
  func uniqueScope() throws {
    let seal = #"{"entity":"Seal","attributes":{"name":"Leo"}}"#
    let lion = seal.replacing("Seal", with: "Lion")
    let (cub, wrong) = (
      seal.replacing("Seal", with: "Cub"), #"{"entity":"Lion","key":"x","attributes":{"name":"Leo"}}"#
    )
    let none = #"{"entity":"Keeper","attributes":{"birthDate":0,"id":null}}"#
    let good = try imports.write("a.jsonl", [seal, lion, seal, wrong, none, none].joined(separator: "\n"))
    let outcome = try imports.importing([good], ["--unique", "Lion.name", "Keeper.id", "--max-rejects", "1"])
    #expect(outcome.code == 10, "\(outcome)")
    try FileManager.default.removeItem(atPath: imports.store)
    try imports.expectFault(
      [try imports.write("a.jsonl", [seal, seal, lion, cub].joined(separator: "\n"))],
      ["lines 3 and 4: two objects have Animal.name = \"Leo\", and --unique Lion.name says"],
      options: ["--unique", "Lion.name"])
  }

  // MARK: Files

  @Test("A file that is given twice, by itself, with its folder or by another name, is named, and nothing is imported")
  func twice() throws {
    let path = try imports.write("Tag.csv", "label\na\n")
    let inside = URL(fileURLWithPath: path).deletingLastPathComponent().path
    let link = folder.newPath("Other.csv")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    for inputs in [[path, path], [inside, path], [path, inside], [path, link]] {
      let file = inputs[1] == link ? link : path
      try imports.expectFault(inputs, ["\(file): the file is given twice", "Name it once"])
    }
    #expect(try imports.importing([inside]).code == 0)
  }

  @Test("A store, a Parquet file and what is compressed are called by name, with what to do")
  func kinds() throws {
    let (store, _) = try ZooModel.store(folder)
    let zip = try imports.write("a.zip", "PK\u{3}\u{4}and so on")
    let gzip = folder.newPath("a.jsonl.gz")
    try Data([0x1F, 0x8B, 8, 0, 0, 0]).write(to: URL(fileURLWithPath: gzip))
    for (path, words) in [
      (
        store, ["this is an SQLite file", "`godwit export \(store) --to-many --dates seconds --output \(store).jsonl`"]
      ),
      (try imports.write("a.parquet", "PAR1 and so on PAR1"), ["this is a Parquet file"]),
      (zip, ["this is a ZIP archive", "`unzip \(zip)`"]),
      (gzip, ["this is compressed by gzip", "`gunzip --keep \(gzip)`"]),
    ] { try imports.expectFault([path], ["\(path): "] + words) }
    // A column of CSV may be named so.
    try imports.expectFault("Tag.csv", "PAR1\na\n", ["no property PAR1"])
    // The advice for a store is a command that works.
    let refused = try imports.importing([store])
    #expect(try folder.paste(try #require(ImportFolder.commands(refused.error).first)).code == 0)
    #expect(try imports.importing([store + ".jsonl"]).code == 0)
  }

  @Test("Standard input and pipes are refused with the reason")
  func noFile() throws {
    for path in ["-", "/dev/stdin"] {
      let outcome = try imports.importing([path])
      #expect(outcome.code == 64 && outcome.error.contains("\(path): this is no regular file"), "\(outcome)")
      #expect(outcome.error.contains("reads its files again") && outcome.error.contains("Write the lines to a file"))
    }
  }

  // MARK: Lines

  @Test("An object over several lines, or a list of objects, is told that each line is one object")
  func lines() throws {
    for text in [
      "{\n\"entity\":\"Tag\"\n}", "[\n{}\n]", #"{"entity":"Tag","attributes":{"# + "\n}}", #"[{"entity":"Tag"}]"#,
    ] {
      try imports.expectFault("a.jsonl", text, ["line 1: the ", "each line is one whole object"])
    }
    try imports.expectFault(
      "a.jsonl", "{entity:1}", ["line 1: the JSON has an object whose name is no text, at byte 2."])
  }

  @Test("What a relationship is read from is told in the words of the file's kind")
  func forms() throws {
    try imports.expectFault(
      "Keeper.csv", "birthDate,tags\n0,x y\n",
      [
        "line 2: tags is read from keys or URIs, with blanks between them, and \"x\" is none",
        "a column tags.ATTRIBUTE",
      ])
    for table in ["name,keeper\nLeo,Ann\n", "name,keeper,keeper@entity\nLeo,Ann,Keeper\n"] {
      try imports.expectFault("Lion.csv", table, ["line 2: keeper is read from a key or a URI, and \"Ann\" is none"])
    }
    try imports.expectFault(
      "a.jsonl", #"{"entity":"Keeper","attributes":{"birthDate":0},"relationships":{"tags":["x"]}}"#,
      [#"tags is read from a key, a URI, {"entity", "key"}"#])
  }

  @Test(
    "An order to an import at which no process is says so", .enabled(if: StopLibrary.isPossible, StopLibrary.needed))
  func order() throws {
    try imports.interrupt(try imports.linked())
    let refused = try folder.run("godwit", ["ctl", "pause", imports.store])
    #expect(refused.code == 20 && refused.error.contains("no process imports into this path just now"), "\(refused)")
  }
}
