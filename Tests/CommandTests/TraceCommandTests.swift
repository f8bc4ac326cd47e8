import Foundation
import GRDB
import Testing

@testable import MigrationJobs
@testable import RunSupport

@Suite("Following one object")
struct TraceCommandTests {
  private let folder: CommandFolder
  private let store: String
  /// A book with an author and a user.
  private let book: Int64

  init() throws {
    folder = try CommandFolder()
    store = try folder.sample(rows: 300, seed: 3)
    let found = try ExampleFolder.rows(
      store,
      "SELECT max(Z_PK) AS k FROM ZBOOK WHERE ZUSER IS NOT NULL AND ZAUTHORNAME IS NOT NULL AND ZTITLE IS NOT NULL")
    book = try #require(Int64(found[0].dropFirst(3).dropLast()))
  }

  private func value(_ column: String) throws -> String {
    let text = try ExampleFolder.rows(store, "SELECT \(column) AS v FROM ZBOOK WHERE Z_PK = \(book)")[0]
    return String(text.dropFirst(4).dropLast(2))
  }

  @Test("trace tells every step of a book, who makes what of it, and no value unasked; it changes nothing")
  func words() throws {
    let before = try folder.tree()
    let arguments = ["trace", store, "Book", "\(book)"] + CommandFolder.models
    let plain = try folder.run("godwit", arguments)
    #expect(plain.code == 20 && plain.error.contains("Run the program that registers LibraryBookPolicy"))
    let traced = try folder.run("book-migration", arguments)
    #expect(traced.code == 0, "\(traced)")
    for line in [
      "\(store): Book \(book) of version Library 1\n", "  authorName (string)\n",
      "step 1: Library 1 to Library 2, mapped (the mapping model Library1_to_Library2 fits)\n",
      "  Book \(book) becomes Book \(book), by BookToBook of Library1_to_Library2, policy LibraryBookPolicy\n",
      "    title (string): Book.title\n", "    and creates Author ", "      name (string)\n",
      "step 2: Library 2 to Library 3, mapped (", "    and creates File ", "      book (to-one Book) -> Book \(book)\n",
    ] { #expect(traced.output.contains(line), "\(line): \(traced.output)") }
    #expect(try !traced.output.contains(value("ZAUTHORNAME")) && !traced.output.contains(value("ZTITLE")))
    let shown = try folder.run("book-migration", arguments + ["--values", "--json"])
    let document = try document(shown.output)
    #expect(document["format"] as? Int == 1 && (document["steps"] as? [Any])?.count == 2)
    #expect(try shown.output.contains(value("ZAUTHORNAME")))
    let missing = try folder.run("book-migration", ["trace", store, "Book", "999999"] + CommandFolder.models)
    #expect(missing.code == 20 && missing.error.contains("Book 999999: the store has no such object"))
    #expect(try folder.tree() == before)
  }

  @Test(
    "What --explain writes tells of the object alone, and the store is the same; trace finds its objects there as it foresaw"
  )
  func explain() throws {
    let (plain, explained, log) = (
      folder.newPath("plain.sqlite"), folder.newPath("explained.sqlite"), folder.newPath("log")
    )
    let run = try folder.run(
      "book-migration",
      ["migrate", store, "--output", explained, "--explain", "Book/\(book)", "--log-file", log] + CommandFolder.models)
    #expect(run.code == 0, "\(run)")
    let request = MigrationJob.Request(
      source: store, output: plain, models: [ExampleFolder.models], mappings: [ExampleFolder.mappings])
    let job = MigrationJob(policies: ExampleFolder.policies)
    _ = try job.migrate(request, monitor: RunMonitor())
    #expect(try CommandFolder.bytes(plain) == CommandFolder.bytes(explained))
    let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").filter {
      $0.contains(" trace ")
    }
    let told = lines.filter { $0.contains(": Book \(book) becomes Book \(book), by BookToBook") }
    #expect(told.count == 2 && told[1].contains(", and creates File "), "\(lines)")
    #expect(lines.count { $0.contains(" becomes ") } == 2)
    #expect(lines.contains { $0.contains("step 1: BookToBook: Book.title: Book.title ") })
    for (entity, key) in [("Book", book), ("User", Int64(1))] {
      let trace = try job.trace(entity, key: key, in: request, result: plain)
      let found = try #require(trace.found)
      #expect(found.count == 1 && found[0].isThere && found[0].differing.isEmpty, "\(trace)")
      #expect(found[0].object == ObjectTrace.Object(entity: entity, key: key))
    }
  }

  private static let rules = ["--mappings", ExampleFolder.root + "/Examples/Mappings/Library"]

  @Test("A relationship that leads elsewhere in the result is not called predicted")
  func elsewhere() throws {
    let result = folder.file("New.sqlite")
    let models = ["--models", ExampleFolder.models, "--to", "Library 2"] + Self.rules
    let made = try folder.run("godwit", ["migrate", store, "--output", result, "--progress", "none"] + models)
    #expect(made.code == 0)
    let trace = ["trace", store, "Book", "\(book)", "--result", result] + models
    #expect(try folder.run("godwit", trace).output.contains("Book \(book) is there, as predicted\n"))
    let queue = try DatabaseQueue(path: result)
    try queue.write { db in
      try db.execute(
        sql: "UPDATE ZBOOK SET ZUSER = (SELECT max(Z_PK) FROM ZUSER WHERE Z_PK <> ZUSER) WHERE Z_PK = ?",
        arguments: [book])
    }
    try queue.close()
    #expect(try folder.run("godwit", trace).output.contains("Book \(book) is there, but not as predicted: user\n"))
  }

  @Test("A relationship that rules of another mapping set from its other side is said to be set by them")
  func otherSide() throws {
    let store = folder.file("Second.sqlite")
    let made = try folder.run(
      "godwit", ["sample", ExampleFolder.models, "--version", "Library 2", "--rows", "100", "--output", store])
    #expect(made.code == 0)
    let user = try #require(try Self.rows(store, "SELECT min(Z_PK) FROM ZUSER").first)
    let traced = try folder.run(
      "godwit", ["trace", store, "User", user, "--models", ExampleFolder.models] + Self.rules)
    #expect(traced.code == 0 && traced.output.contains("set by rules of BookToBook, which sets File.user"), "\(traced)")
  }

  @Test("A value that no two runs give alike is told apart from one that differs")
  func unforetold() throws {
    let (result, file) = (folder.file("New.sqlite"), folder.file("Now.yaml"))
    let mapping = """
      from: Library 1
      to: Library 2
      entities:
        - User
        - to: Author
        - { from: Book, attributes: { isbn: { cast: { uuid: random }, to: text } } }

      """
    try mapping.write(toFile: file, atomically: true, encoding: .utf8)
    let words = ["--models", ExampleFolder.models, "--mappings", file, "--to", "Library 2"]
    let lost = ["--drop", "Book.isbn", "Book.authorName"]
    let made = try folder.run(
      "godwit", ["migrate", store, "--output", result, "--progress", "none"] + words + lost)
    #expect(made.code == 0, "\(made)")
    let traced = try folder.run("godwit", ["trace", store, "Book", "\(book)", "--result", result] + words + lost)
    let said = "is there, as predicted\n    cannot be foretold, as each run gives another value: isbn\n"
    #expect(traced.code == 0 && traced.output.contains(said), "\(traced)")
  }

  @Test(
    "A removal is said as the file has it, and so is a link whose object it removed; nothing is looked for in its place"
  )
  func removal() throws {
    let shop = try ShopFolder()
    let (store, result) = (try shop.store(), shop.folder.newPath("New.sqlite"))
    let removals = "    remove: [{ when: name == nil, reason: nameless }, { when: name != nil, reason: named }]"
    let mapping = try shop.mapping("    filter: TRUEPREDICATE", shop: "  - from: Shop\n" + removals)
    let words = ["--models", shop.models, "--mappings", mapping, "--to", "Shop 2"]
    let done = try shop.folder.run("godwit", ["migrate", store, "--output", result, "--quiet"] + words)
    #expect(done.code == 0, "\(done)")
    func trace(_ entity: String, _ sql: String) throws -> String {
      let key = try #require(try Self.rows(store, sql).first)
      return try shop.folder.run("godwit", ["trace", store, entity, key, "--result", result] + words).output
    }
    let removed = try trace("Shop", "SELECT min(Z_PK) FROM ZSHOP WHERE ZNAME IS NOT NULL")
    #expect(removed.contains(" is left out, by ShopToShop of "), "\(removed)")
    #expect(removed.contains(": remove holds: named (name != nil)\n"), "\(removed)")
    #expect(removed.contains("in \(result): nothing to look for: no object stands for it\n"), "\(removed)")
    let item = try trace("Item", "SELECT min(Z_PK) FROM ZITEM WHERE ZSHOP IS NOT NULL")
    #expect(item.contains("-> none: carried from Item.shop, whose object is not carried over\n"), "\(item)")
    let missing = try shop.folder.run("godwit", ["trace", store, "Item", "999999"] + words)
    #expect(missing.code == 20 && missing.error.contains("`godwit export \(store) Item` prints those"), "\(missing)")
  }

  private static func rows(_ store: String, _ sql: String) throws -> [String] {
    let queue = try DatabaseQueue(path: store)
    defer { try? queue.close() }
    return try queue.read { db in try Int64.fetchAll(db, sql: sql).map(String.init) }
  }
}
