import Foundation
import Testing

@Suite("Comparison of what two stores hold: entities that moved to the table of another root")
struct ContentsMovedTests {
  private static let code = #"<attribute name="code" optional="YES" attributeType="Integer 64"/>"#
  private static let mood = """
    <entity name="Mood"><relationship name="land" optional="YES" maxCount="1" deletionRule="Nullify" \
    destinationEntity="Land" inverseName="moods" inverseEntity="Land"/></entity>
    """
  private static let moods = """
    <relationship name="moods" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Mood" \
    inverseName="land" inverseEntity="Mood"/>
    """

  /// Two entities below the root, each with a size.
  private static func family(_ root: String) -> String {
    """
    <entity name="\(root)">\(code)</entity>\
    <entity name="City" parentEntity="\(root)"><attribute name="size" optional="YES" attributeType="Integer 64"/></entity>\
    <entity name="Land" parentEntity="\(root)">\(moods)<attribute name="size" optional="YES" attributeType="Double"/></entity>\
    \(mood)
    """
  }

  /// The same without a root above them.
  private static let apart = """
    <entity name="City">\(code)<attribute name="size" optional="YES" attributeType="Integer 64"/></entity>\
    <entity name="Land">\(code)\(moods)<attribute name="size" optional="YES" attributeType="Double"/></entity>\(mood)
    """

  private let folder: FindingFolder
  private let old: String
  private let new: String

  init() throws {
    folder = try FindingFolder(entities: [Self.family("Place"), Self.apart, Self.family("Region")])
    old = try folder.imported(
      "old.sqlite", "V1",
      """
      {"entity":"City","key":4,"attributes":{"code":1,"size":10}}
      {"entity":"City","key":5,"attributes":{"code":2,"size":20}}
      {"entity":"City","key":6}
      {"entity":"Land","key":1,"attributes":{"code":1,"size":1.5}}
      {"entity":"Land","key":2,"attributes":{"code":3,"size":2.5}}
      {"entity":"Mood","key":1,"relationships":{"land":2}}
      """)
    new = try folder.imported(
      "new.sqlite", "V2",
      """
      {"entity":"City","key":1,"attributes":{"code":2,"size":20}}
      {"entity":"City","key":2,"attributes":{"code":1,"size":11}}
      {"entity":"City","key":6}
      {"entity":"Land","key":1,"attributes":{"code":3,"size":2.5}}
      {"entity":"Land","key":2,"attributes":{"code":7,"size":1.5}}
      {"entity":"Mood","key":1,"relationships":{"land":2}}
      """)
  }

  private func diff(_ words: [String] = []) throws -> String {
    try expectLook(["diff", "--contents", old, new] + words, in: folder.folder)
  }

  @Test("Without --by objects of tables with keys of their own are never the same, and a note says what to do")
  func listed() throws {
    let text = try diff()
    for line in [
      "\n- City 4: code 1, size 10\n", "\n+ City 1: code 2, size 20\n", "\n- Land 1: ", "\n+ Land 1: ",
      "  City: 3 added, 3 removed\n", "  Land: 2 added, 2 removed\n", "  Mood: 1 the same\n",
      "note: City: in the table ZPLACE of the old store and ZCITY of the new one, which give keys independently, so all "
        + "are listed as removed and added: compare them with --by ATTRIBUTE\n", "note: Land: in the table ZPLACE",
    ] { #expect(text.contains(line), "\(line): \(text)") }
  }

  @Test("Whatever is listed is in the numbers, and the page has it all", arguments: [[], ["--by", "code"]])
  func totals(words: [String]) throws {
    let found = try document(try diff(["--json"] + words))
    let changes = try #require(found["changes"] as? [[String: Any]])
    let counts = try #require(found["entities"] as? [String: [String: Int]])
    for (entity, count) in counts {
      for kind in ["added", "removed", "changed", "moved"] {
        let listed = changes.count { $0["entity"] as? String == entity && $0["kind"] as? String == kind }
        #expect(listed == count[kind], "\(entity) \(kind): \(found)")
      }
    }
    #expect(Set(changes.compactMap { $0["entity"] as? String }).isSubset(of: counts.keys))
    let page = folder.folder.newPath("page.html")
    let outcome = try folder.run(["diff", "--contents", old, new, "--html", page] + words)
    #expect(outcome.code == 0, "\(outcome)")
    let html = try String(contentsOfFile: page, encoding: .utf8)
    #expect(html.components(separatedBy: "class=\"change\"").count == changes.count + 1)
  }

  @Test("With --by they are compared across tables, each with those of its own entity; no value is no key")
  func byAttribute() throws {
    let text = try diff(["--by", "code"])
    for line in [
      "\n~ City 4 -> 2\n    size: 10 -> 11\n", "\n- City 6\n", "\n+ City 6\n", "\n- Land 1: ", "\n+ Land 2: ",
      "  City: 1 added, 1 removed, 1 changed, 1 the same\n", "  Land: 1 added, 1 removed, 1 the same\n",
      "ZCITY of the new one, compared by code; relationships to them are compared by Z_PK all the same\n",
      "note: Mood: compared by Z_PK, as it has no code\n",
    ] { #expect(text.contains(line), "\(line): \(text)") }
    // The other entity of the table is not meant, though it has an attribute of that name.
    #expect(!text.contains("only one state has"), "\(text)")
  }

  @Test("An entity is compared alone; a wrong key is refused with those that both stores have, or that there is none")
  func entity() throws {
    let text = try diff(["--by", "code", "--entity", "Land"])
    #expect(text.contains("  Land: 1 added") && !text.contains("City"), "\(text)")
    for (entity, said) in [
      ("Land", "Land has no attribute foo in both stores. Land has code, size"),
      ("Mood", "Mood has no attribute foo in both stores. Mood has land"),
    ] {
      let outcome = try folder.run(["diff", "--contents", old, new, "--by", "foo", "--entity", entity])
      #expect(outcome.code == 20 && outcome.error.contains(said), "\(outcome)")
    }
    let alone = try folder.run(["diff", "--contents", old, old, "--by", "foo", "--entity", "Place"])
    #expect(alone.code == 20 && alone.error.contains("Place has code, size"), "\(alone)")
  }

  @Test("A root with another name keeps the keys of the entities below it")
  func renamedRoot() throws {
    let later = try folder.imported(
      "later.sqlite", "V3",
      """
      {"entity":"City","key":4,"attributes":{"code":1,"size":12}}
      {"entity":"City","key":5,"attributes":{"code":2,"size":20}}
      {"entity":"City","key":6}
      {"entity":"Land","key":1,"attributes":{"code":1,"size":1.5}}
      {"entity":"Land","key":2,"attributes":{"code":3,"size":2.5}}
      {"entity":"Mood","key":1,"relationships":{"land":2}}
      """)
    let text = try expectLook(["diff", "--contents", old, later], in: folder.folder)
    for line in [
      "\n~ City 4\n    size (", ": 10 -> 12\n", "  City: 1 changed, 2 the same\n", "  Land: 2 the same\n",
      "note: City, Land: in the table ZPLACE of the old store and ZREGION of the new one, compared by Z_PK\n",
    ] { #expect(text.contains(line), "\(line): \(text)") }
  }

  @Test(
    "Two versions of a real application whose entities lost their root",
    .enabled(if: ExampleCorpus.isPresent, "set GODWIT_CORPUS to the corpus"))
  func corpus() throws {
    let stores = try ["Moody 3.moody", "Moody 4.moody"].map { name in
      for suffix in ["", "-wal", "-shm"] {
        try FileManager.default.copyItem(
          atPath: "\(ExampleCorpus.root)/stores/objcio+core-data/\(name)\(suffix)", toPath: folder.file(name + suffix))
      }
      return folder.file(name)
    }
    let page = folder.folder.newPath("page.html")
    let plain = try folder.run(["diff", "--contents"] + stores + ["--html", page])
    #expect(plain.code == 0 && plain.output.contains("  Country: 3 added, 3 removed\n"), "\(plain)")
    let compared = try folder.run(["diff", "--contents"] + stores + ["--by", "numericISO3166Code"])
    #expect(compared.code == 0 && compared.output.contains("  Country: 3 changed\n"), "\(compared)")
    #expect(compared.output.contains("  Continent: 2 saved again\n"), "\(compared)")
  }
}

extension FindingFolder {
  /// A store of a version with objects as `import` takes them; all have one UUID.
  func imported(_ name: String, _ version: String, _ objects: String) throws -> String {
    let (lines, store) = (folder.newPath("objects.jsonl"), file(name))
    try objects.write(toFile: lines, atomically: false, encoding: .utf8)
    try runWell([
      "import", "\(models)/\(version).xcdatamodel", lines, "--output", store, "--uuid",
      "6BA7B810-9DAD-11D1-80B4-00C04FD430C8",
    ])
    return store
  }
}
