import Foundation
import GRDB
import Testing

@testable import Codecs

@Suite("Exports without a model")
struct RawExportTests {
  private let folder: CommandFolder
  private let store: String
  private static let models = ["--models", ExampleFolder.models]

  /// Three tables: books, users, and a join table whose columns have the numbers of both.
  init() throws {
    folder = try CommandFolder()
    store = try folder.sample(rows: 600)
    try change(
      """
      CREATE TABLE Z_1READERS (Z_1BOOKS INTEGER, Z_2READERS INTEGER, Z_FOK_1BOOKS INTEGER, PRIMARY KEY (Z_1BOOKS, Z_2READERS));
      INSERT INTO Z_1READERS VALUES (1, 2, 1024);
      DELETE FROM Z_MODELCACHE;
      UPDATE ZBOOK SET ZPUBLISHED = 568000000.25 WHERE Z_PK = 1;
      UPDATE ZBOOK SET ZPUBLISHED = 100 WHERE Z_PK > 1;
      """)
  }

  private func change(_ sql: String) throws {
    let queue = try DatabaseQueue(path: store)
    try queue.write { try $0.execute(sql: sql) }
    try queue.close()
  }

  private func lines(_ arguments: [String]) throws -> [[String: Any]] {
    try expectLook(["export", store] + arguments, in: folder).split(separator: "\n").map { try document(String($0)) }
  }

  @Test("Every row of the file is a line: entities by Z_PRIMARYKEY, TIMESTAMP as dates, links with both ends")
  func rows() throws {
    let found = try lines(["--raw", "--quiet"])
    #expect(found.count == 601)
    let book = try #require(found.first { $0["entity"] as? String == "Book" && $0["key"] as? Int == 1 })
    let columns = try #require(book["columns"] as? [String: Any])
    #expect(columns["ZPUBLISHED"] as? String == "2019-01-01T01:46:40.250000Z")
    #expect((book["uri"] as? String)?.hasSuffix("/Book/p1") == true)
    let modelled = try document(
      String(try expectLook(["export", store, "Book", "--limit", "1"] + Self.models, in: folder)))
    #expect((modelled["attributes"] as? [String: Any])?["title"] as? String == columns["ZTITLE"] as? String)
    let link = try #require(found.first { $0["link"] as? String == "Z_1READERS" })
    let ends = try #require(link["ends"] as? [[String: Any]])
    #expect(ends.map { $0["entity"] as? String } == ["Book", "User"] && ends.map { $0["key"] as? Int } == [1, 2])
    #expect((link["columns"] as? [String: Int]) == ["Z_FOK_1BOOKS": 1024])
  }

  @Test("What is a guess is said on standard error, and a row of an unknown entity is no error")
  func honest() throws {
    try change("UPDATE ZBOOK SET Z_ENT = 77 WHERE Z_PK = 2")
    let outcome = try folder.run("godwit", ["export", "--raw", store])
    #expect(outcome.code == 0 && outcome.error.contains("Z_1READERS links Book and User"))
    #expect(outcome.error.contains("TIMESTAMP") && outcome.error.contains("1 row of ZBOOK has an entity number"))
    #expect(outcome.output.contains(#"{"entity":null,"key":2,"uri":null,"#))
  }

  @Test(
    "inspect lists columns by their declared types, dates and links as guesses, and says nothing of it if a model is known"
  )
  func inspected() throws {
    let text = try expectLook(["inspect", store], in: folder)
    #expect(text.contains("ZBOOK of Book: ") && text.contains("ZPUBLISHED TIMESTAMP (date)"), "\(text)")
    #expect(text.contains("Z_1READERS, links Book and User: Z_FOK_1BOOKS INTEGER") && text.contains("guesses"))
    let found = try document(try expectLook(["inspect", store, "--json"], in: folder))
    let tables = try #require(found["rawTables"] as? [[String: Any]])
    #expect(tables.map { $0["name"] as? String } == ["ZBOOK", "ZUSER", "Z_1READERS"])
    #expect((tables[2]["links"] as? [String]) == ["Book", "User"])
    let known = try expectLook(["inspect", store, "--json"] + Self.models, in: folder)
    #expect(!known.contains("rawTables"))
  }

  @Test("The error of a store without a model names the whole command that reads its tables")
  func advice() throws {
    let outcome = try folder.run("godwit", ["export", store])
    #expect(outcome.code == 20 && outcome.error.contains("`godwit export --raw \(store)`"), "\(outcome)")
    #expect(try folder.run("godwit", ["export", "--raw", store]).code == 0)
    #expect(try expectLook(["inspect", store], in: folder).contains("export --raw"))
  }

  @Test("A folder gets one file for each table, the same bytes each time, and is never written over")
  func folders() throws {
    for format in ["csv", "jsonl"] {
      let (first, second) = (folder.newPath("a"), folder.newPath("b"))
      try FileManager.default.createDirectory(atPath: second, withIntermediateDirectories: true)
      for path in [first + "/", second] {
        let outcome = try folder.run("godwit", ["export", "--raw", store, "--format", format, "--output", path])
        #expect(outcome.code == 0 && outcome.output.contains(": 600 objects and 1 link, "), "\(outcome)")
      }
      let names = try FileManager.default.contentsOfDirectory(atPath: first).sorted()
      #expect(names == ["Book.\(format)", "User.\(format)", "Z_1READERS.\(format)"])
      for name in names {
        #expect(try CommandFolder.bytes("\(first)/\(name)") == CommandFolder.bytes("\(second)/\(name)"))
      }
      let again = try folder.run("godwit", ["export", "--raw", store, "--format", format, "--output", first])
      #expect(again.code == 20 && again.error.contains("exists already"), "\(again)")
      #expect(!FileManager.default.fileExists(atPath: first + ".part"))
    }
    let modelled = folder.newPath("modelled")
    let outcome = try folder.run(
      "godwit", ["export", store, "--format", "csv", "--output", modelled + "/"] + Self.models)
    #expect(outcome.code == 0 && outcome.output.contains("600 objects"), "\(outcome)")
    let text = try String(contentsOfFile: modelled + "/Book.csv", encoding: .utf8)
    #expect(text.hasPrefix("@entity,@key,@uri,authorName,"))
  }

  @Test("Columns, conditions and dates choose the same rows as SQL, with a model and without")
  func choices() throws {
    let sql = "SELECT count(*) AS n FROM ZBOOK WHERE ZPAGES > 1000 AND ZTITLE >= 'm'"
    let count = try #require(try ExampleFolder.rows(store, sql).first)
    for (arguments, condition) in [
      (["--raw", "Book"], #"ZPAGES > 1000 AND ZTITLE >= "m""#),
      (["Book"] + Self.models, #"pages > 1000 AND title >= "m""#),
    ] {
      let found = try lines(arguments + ["--where", condition, "--quiet"])
      #expect("[n:\(found.count)]" == count)
    }
    let recent = try lines(["--raw", "--since", "2018-12-31", "--columns", "ZTITLE", "ZPUBLISHED"])
    #expect(recent.count == 1 && (recent[0]["columns"] as? [String: Any])?.count == 2)
    #expect(try lines(["Book", "--since", "2018-12-31T00:00:00Z", "--columns", "title"] + Self.models).count == 1)
    #expect(try lines(["--raw", "Book", "--where", "ZPUBLISHED >= \"2019-01-01\""]).count == 1)
    let first = ["--limit", "1"]
    for names in [["title,pages"], ["title,", "pages"], ["title", "pages"]] {
      let found = try lines(["Book", "--columns"] + names + first + Self.models)
      #expect((found[0]["attributes"] as? [String: Any])?.count == 2, "\(names): \(found)")
    }
    let columns = try lines(["--raw", "Book", "--columns", "ZTITLE,ZPAGES"] + first)
    #expect((columns[0]["columns"] as? [String: Any])?.count == 2)
    let one = folder.newPath("one.jsonl")
    let written = try folder.run("godwit", ["export", store, "Book", "--output", one] + first + Self.models)
    #expect(written.output.contains("1 object, "), "\(written)")
    #expect(try lines(["--raw", "Book", "--where", "Z_PK BETWEEN {3, 5}"]).count == 3)
  }

  @Test("Dates may be written exactly as the store has them")
  func exactDates() throws {
    let found = try lines(["--raw", "Book", "--limit", "1", "--dates", "seconds"])
    #expect((found[0]["columns"] as? [String: Any])?["ZPUBLISHED"] as? Double == 568_000_000.25)
  }

  @Test("Wrong names, conditions and options are refused with what is meant")
  func refusals() throws {
    for (words, code, parts) in [
      (["--raw", "Bok"], 20, ["no entity or table Bok, did you mean Book?"]),
      (["--raw", "Book", "--columns", "ZTITEL"], 20, ["no column ZTITEL, did you mean ZTITLE?"]),
      (["Book", "--columns", "titel"] + Self.models, 20, ["no property titel, did you mean title?"]),
      (["--raw", "Book", "--where", "ZTITEL = 1"], 20, ["ZTITEL"]),
      (["--raw", "Book", "--where", "ZTITLE >"], 20, ["the condition ZTITLE >"]),
      (["--raw", "Book", "--where", "Z_PK BETWEEN {1}"], 20, ["BETWEEN without two bounds"]),
      (["--raw", "Book", "--where", "Z_PK IN 3"], 20, ["IN without a list"]),
      (["--raw", "Book", "--where", "ZTITLE = 1"], 20, ["compares a text with 1: write '1'"]),
      (["Book", "--where", "title > 5"] + Self.models, 20, ["compares a text with 5: write '5'"]),
      (["Book", "--where", "5 < title"] + Self.models, 20, ["write '5'"]),
      (["Book", "--where", "title IN {'a', 5}"] + Self.models, 20, ["write '5'"]),
      (
        ["Book", "--where", "title != '2020-01-01' AND published > 2015-01-01"] + Self.models, 20,
        [#"--where 'title != '\''2020-01-01'\'' AND published > "2015-01-01"'"#]
      ),
      (["Book", "--where", "user.userId == 5"] + Self.models, 20, ["not those of related objects", "user == 7"]),
      (["--raw", "Book", "--where", "ZUSER.ZUSERID == 5"], 20, ["not those of related objects", "ZUSER == 7"]),
      (["Book", "--where", "titel == 5"] + Self.models, 20, ["names titel, which is no column here"]),
      (["--raw", "Z_METADATA"], 20, ["Core Data's own", "`godwit inspect \(store)`", "`godwit metadata \(store)`"]),
      (["--raw", "z_primarykey"], 20, ["the table Z_PRIMARYKEY is Core Data's own"]),
      (["--raw", "--where", "ZTITLE = 1"], 64, ["--where asks about the objects of one entity"]),
      (["--raw", "--history"], 64, ["exclude each other"]),
      (["--raw", "--since", "yesterday"], 64, ["--since"]),
      (["--raw", "--decode", "xml"], 64, ["--decode"]),
      (["--history"], 20, ["no persistent history"]),
    ] as [([String], Int32, [String])] {
      let outcome = try folder.run("godwit", ["export", store] + words)
      #expect(outcome.code == code && parts.allSatisfy(outcome.error.contains), "\(words): \(outcome)")
    }
  }

  // MARK: Bytes

  private func setTitle(_ key: Int, _ bytes: [UInt8]) throws {
    let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    try change("UPDATE ZBOOK SET ZTITLE = x'\(hex)' WHERE Z_PK = \(key)")
  }

  private func title(_ key: Int, _ forms: String) throws -> Any? {
    let found = try lines(["--raw", "Book", "--where", "Z_PK = \(key)", "--decode", forms, "--quiet"])
    return (found.first?["columns"] as? [String: Any])?["ZTITLE"]
  }

  @Test("Property lists, archives and UUIDs are shown as what they hold; keys stand in the same order each time")
  func decoded() throws {
    let list = PropertyListWriter.write(.dictionary(["b": .array([.integer(1), .boolean(true)]), "a": .string("x")]))
    try setTitle(1, list)
    let shown = try #require(try title(1, "plist") as? [String: [String: Any]])
    #expect(shown["plist"]?["a"] as? String == "x" && (shown["plist"]?["b"] as? [Any])?.count == 2)
    let archive = PropertyListWriter.write(
      .dictionary([
        "$version": .integer(100_000), "$archiver": .string("NSKeyedArchiver"), "$top": .dictionary(["root": .uid(1)]),
        "$objects": .array([
          .string("$null"), .dictionary(["$class": .uid(3), "name": .uid(2), "me": .uid(1)]), .string("Ann"),
          .dictionary(["$classname": .string("Person"), "$classes": .array([.string("Person")])]),
        ]),
      ]))
    try setTitle(2, archive)
    let person = try #require(try title(2, "plist,keyedarchiver") as? [String: [String: Any]])["keyedArchive"]
    #expect(person?["class"] as? String == "Person")
    let fields = try #require(person?["fields"] as? [String: Any])
    // The ring is a reference.
    #expect(fields["name"] as? String == "Ann" && (fields["me"] as? [String: Int]) == ["reference": 1])
    try setTitle(3, Array(0..<16))
    #expect(try title(3, "uuid") as? String == "00010203-0405-0607-0809-0A0B0C0D0E0F")
    #expect(try title(3, "plist") as? String == "AAECAwQFBgcICQoLDA0ODw==")
  }

  @Test(
    "Damaged and hostile bytes stay base64 and are counted: shared lists that would grow without end, lies of length")
  func hostile() throws {
    var cut = PropertyListWriter.write(.array(Array(repeating: .string("abc"), count: 5)))
    cut[9] = 0xFF
    try setTitle(1, cut)
    // Forty levels of arrays, each with the next one twice: 2^40 values.
    let objects: [[UInt8]] = (1...40).map { [0xA2, UInt8($0), UInt8($0)] } + [[0x10, 7]]
    var (bytes, offsets) = (Array("bplist00".utf8), [UInt8]())
    for object in objects {
      offsets.append(UInt8(bytes.count))
      bytes += object
    }
    let table = UInt8(bytes.count)
    bytes +=
      offsets + [0, 0, 0, 0, 0, 0, 1, 1] + [UInt8(objects.count), 0, table].flatMap { [0, 0, 0, 0, 0, 0, 0, $0] }
    try setTitle(2, bytes)
    let outcome = try folder.run("godwit", ["export", "--raw", store, "Book", "--limit", "2", "--decode", "plist"])
    #expect(outcome.code == 0 && outcome.error.contains("2 values look like property lists"), "\(outcome.error)")
  }
}
