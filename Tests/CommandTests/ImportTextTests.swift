import Foundation
import Testing

/// What files for an import may look like.
@Suite("Texts of an import")
struct ImportTextTests {
  private let imports: ImportFolder
  private var folder: CommandFolder { imports.folder }

  init() throws { imports = try ImportFolder() }

  // MARK: CSV

  @Test("A quotation that does not end is named with the line in which it opens, however many lines follow")
  func openQuotation() throws {
    let rest = (0..<200_000).map { "line \($0)" }.joined(separator: "\n")
    for text in ["label\na\n\"b\n\(rest)\n", "label\na\n\"b"] {
      try imports.expectFault(
        "Tag.csv", text, ["line 3: a quotation mark opens here"], options: ["--max-rejects", "9"])
    }
    try imports.expectFault("Tag.csv", "label\n\"a\nb\"c\n", ["line 2: ", "a quotation makes lines 2 to 3 one"])
  }

  @Test("Quotation marks in a field without, carriage returns alone, empty files and strange columns are errors")
  func strictness() throws {
    try imports.expectFault("Tag.csv", "label\na\"b\nc\"d\n", ["line 2: ", "field 1 has a quotation mark"])
    for text in ["label\ra\rb\r", "\"label\"\ra\r", "label\na\rb\n"] {
      try imports.expectFault("Tag.csv", text, ["carriage return alone"])
    }
    try imports.expectFault("Tag.csv", "", ["the file is empty"], options: ["--max-rejects", "9"])
    try imports.expectFault("Tag.csv", "@keys,label\n1,a\n", ["line 1: ", "column @keys"])
    try imports.expectFault("Tag.csv", "label,label@entity\na,Tag\n", ["line 1: ", "label@entity"])
    try imports.expectFault(
      "Lion.csv", "name,keeper,keeper@entity\na,,Keeper\n", ["line 2: ", "keeper@entity names an entity"])
  }

  @Test("A column that no line can have is one error of the first line, however many lines may be left out")
  func unknownColumns() throws {
    let options = ["--max-rejects", "9"]
    try imports.expectFault(
      "Tag.csv", "lable,foo\na,1\nb,2\n", ["line 1: ", "Tag of ", "no property lable, did you mean label?"],
      options: options)
    try imports.expectFault(
      "all.csv", "@entity,label,foo\nTag,b,1\n", ["line 1: ", "no entity of ", "a property foo"], options: options)
    try imports.expectFault("all.csv", "label\nb\n", ["line 1: ", "no column @entity"], options: options)
    // A property of a relative, empty where it is another's.
    let path = try imports.write("Lion.csv", "name,age\nLeo,\n")
    #expect(try imports.importing([path], ["--validate", "none"]).code == 0)
  }

  @Test("Values are shown as they are written: a number that is too large, and what a relationship refers to")
  func shownValues() throws {
    let number = "99999999999999999999"
    try imports.expectFault(
      "a.jsonl", #"{"entity":"Keeper","attributes":{"id":\#(number)}}"#,
      ["line 1: id ", "and \(number) is no such value"])
    let long = String(repeating: "x", count: 60)
    for (label, shown) in [("none", "\"none\""), (long, "\"\(long.prefix(40))…\"")] {
      let line = #"{"entity":"Keeper","attributes":{"birthDate":0},"relationships":{"tags":[{"label":"\#(label)"}]}}"#
      try imports.expectFault(
        "a.jsonl", line, ["line 1: tags refers to an object by Tag.label = \(shown), which no object has"])
    }
    let one = try imports.importing([try imports.write("Tag.csv", "label\na\n")])
    #expect(one.code == 0 && one.output.contains("1 object, "), "\(one)")
    for wrong in ["x", "5%%", "101%", "-1"] {
      let outcome = try imports.importing(
        [try imports.write("Tag.csv", "label\na\n")], ["--max-rejects=\(wrong)"], to: folder.file("Other.sqlite"))
      #expect(outcome.code == 64 && outcome.error.contains("--max-rejects"), "\(outcome)")
    }
  }

  @Test("A share of wrong lines is judged when all files are read; what is too many is told, and nothing is left")
  func share() throws {
    let good = (1...17).map { "tag \($0),\($0)\n" }.joined()
    let inputs = [
      try imports.write("Tag.csv", "label,@key\n" + good + "a,x\n"),
      try imports.write("Tag.csv", "label,@key\nb,y\nc,40\n"),
    ]
    // Two of 20 lines.
    try imports.expectFault(
      inputs, ["2 of 20 lines are wrong, more than 9.9%", "raise --max-rejects"], options: ["--max-rejects", "9.9%"],
      code: 11)
    // What can no longer become a small share ends the import at once.
    let many = try imports.write("Tag.csv", "label,@key\n" + String(repeating: "a,x\n", count: 9) + "b,1\n")
    try imports.expectFault(
      [many], ["Tag.csv: line ", "raise --max-rejects"], options: ["--max-rejects", "10%"], code: 11)
    let list = folder.newPath("rejects.csv")
    let outcome = try imports.importing(inputs, ["--max-rejects", "10%", "--rejects", list])
    #expect(outcome.code == 10 && outcome.output.contains("left out: 2 lines"), "\(outcome)")
    #expect(try String(contentsOfFile: list, encoding: .utf8).split(separator: "\r\n").count == 3)
  }

  @Test("Quotations over lines, doubled marks, CR LF and a byte order mark are read")
  func quotations() throws {
    let path = try imports.write("Tag.csv", "\u{FEFF}\"label\",\"@key\"\r\n\"a\r\n\"\"b\"\",\",1\r\n\"c\",2\r\n,3")
    let store = folder.file("New.sqlite")
    #expect(try imports.importing([path], to: store).code == 0)
    #expect(
      try ExampleFolder.rows(store, "SELECT Z_PK AS k, length(ZLABEL) AS n FROM ZTAG ORDER BY 1") == [
        "[k:1 n:7]", "[k:2 n:1]", "[k:3 n:NULL]",
      ])
  }

  @Test("CSV of entities with sub-entities, which have properties of their own, comes back whole")
  func subEntities() throws {
    let (store, _) = try ZooModel.store(folder)
    let (tables, again) = (folder.newPath("tables"), folder.file("Again.sqlite"))
    _ = try expectLook(
      ["export", store, "--format", "csv", "--to-many", "--dates", "seconds", "--output", tables + "/"], in: folder)
    let outcome = try imports.importing([tables], ["--validate", "none"], to: again)
    #expect(outcome.code == 0 && outcome.output.contains("Void.csv has no objects"), "\(outcome)")
    let texts = try [store, again].map {
      try expectLook(["export", $0, "--to-many", "--dates", "seconds"], in: folder)
        .replacing(#""bytes":200000"#, with: #""bytes":null"#)
    }
    #expect(texts[0] == texts[1])
    // A value where the entity has no such property is an error all the same.
    try imports.expectFault(
      "Animal.csv", "@entity,name,age,maneLength\nSeal,Sal,,\nSeal,Sol,3,\n", ["line 3: ", "no property age"])
  }

  // MARK: Files

  @Test("A folder stands for its files whatever the case of their names, and what is passed over is said")
  func folders() throws {
    let path = try imports.write("Tag.CSV", "label\na\n")
    let inputs = URL(fileURLWithPath: path).deletingLastPathComponent().path
    try #"{"entity":"Tag"}"#.write(toFile: inputs + "/b.JSONL", atomically: false, encoding: .utf8)
    try #"{"entity":"Tag"}"#.write(toFile: inputs + "/c.ndjson", atomically: false, encoding: .utf8)
    for name in ["d.txt", ".hidden"] { try "".write(toFile: inputs + "/" + name, atomically: false, encoding: .utf8) }
    let outcome = try imports.importing([inputs])
    #expect(outcome.code == 0 && outcome.output.contains("3 objects"), "\(outcome)")
    #expect(outcome.output.contains("passed over") && outcome.output.contains(inputs + "/d.txt"), "\(outcome)")
    #expect(!outcome.output.contains(".hidden"))
  }

  @Test("Equal values of a unique attribute are named with keys and value; long ones are compared, too")
  func unique() throws {
    let long = String(repeating: "x", count: 3000)
    for (value, shown) in [("same", "\"same\""), (long, String(repeating: "x", count: 40) + "…")] {
      let tag = #"{"entity":"Tag","attributes":{"label":"\#(value)"}}"#
      let outcome = try imports.importing([try imports.write("a.jsonl", tag + "\n" + tag)])
      #expect(outcome.code == 20 && outcome.error.contains("keys 1 and 2"), "\(outcome)")
      #expect(outcome.error.contains("label = ") && outcome.error.contains(shown), "\(outcome)")
      #expect(!outcome.error.contains("policy") && !outcome.error.contains("source is untouched"))
    }
  }

  @Test("Long unique values may be referred to, and need not be")
  func longReference() throws {
    let long = String(repeating: "y", count: 20_000)
    let line = #"{"entity":"Lion","attributes":{"name":"\#(long)"}}"#
    let other = #"{"entity":"Keeper","attributes":{"birthDate":0},"relationships":{"animals":[{"name":"\#(long)"}]}}"#
    let store = folder.file("New.sqlite")
    let outcome = try imports.importing(
      [try imports.write("a.jsonl", line + "\n" + other)], ["--unique", "Animal.name"], to: store)
    #expect(outcome.code == 0, "\(outcome.error.prefix(300))")
    #expect(try ExampleFolder.rows(store, "SELECT ZKEEPER AS k FROM ZANIMAL") == ["[k:1]"])
  }

  @Test("A key that stands twice is named with both files and lines")
  func twice() throws {
    let (first, second) = (
      try imports.write("a.jsonl", "\n" + #"{"entity":"Tag","key":1}"#),
      try imports.write("b.jsonl", #"{"entity":"Tag","key":1}"#)
    )
    try imports.expectFault([first, second], [second, "line 1: two objects have the key 1, as in line 2 of \(first)"])
  }

  @Test("Eight digits are neither day nor seconds; numbers are decimal; JSON has no zeros before a number")
  func values() throws {
    let keeper = #"{"entity":"Keeper","attributes":{"birthDate":"#
    for value in ["20210301", "\"20210301\""] {
      try imports.expectFault("a.jsonl", keeper + value + "}}", ["line 1: ", "write 2021-03-01", "20210301.0"])
    }
    for field in ["20210301", "0x10", "1e999", "nan", "inf", "+1"] {
      try imports.expectFault("Keeper.csv", "birthDate\n\(field)\n", ["line 2: birthDate"])
    }
    for field in ["0x10", "1e999", "nan", "infinity"] {
      try imports.expectFault("Keeper.csv", "birthDate,height\n0.5,\(field)\n", ["line 2: height"])
    }
    for line in [#"{"entity":"Tag","key":0010}"#, #"{"entity":"Tag","attributes":{"label":"\u+041"}}"#] {
      try imports.expectFault("a.jsonl", line, ["line 1: the JSON has"])
    }
    let store = folder.file("New.sqlite")
    #expect(
      try imports.importing([try imports.write("Keeper.csv", "birthDate,height\n20210301.0,-1.5e3\n")], to: store).code
        == 0)
    #expect(
      try ExampleFolder.rows(store, "SELECT ZBIRTHDATE + 0 AS d, ZHEIGHT + 0 AS h FROM ZKEEPER") == [
        "[d:20210301 h:-1500.0]"
      ])
  }
}
