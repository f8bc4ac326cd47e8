import Foundation
import Testing

@testable import SwiftDataModels

@Suite("UUIDs that mapping files give", .enabled(if: SourceParser.isThere, "built without SwiftData"))
struct RuleUUIDTests {
  private let folder: CommandFolder

  init() throws { folder = try CommandFolder(readsSwift: true) }

  @Test("uuid: per-row gives another UUID to each object that a row makes, and is no value to find objects by")
  func perRule() throws {
    let sources = try libraries()
    let (store, file) = (folder.file("Library.store"), folder.newPath("Library.yaml"))
    let made = try folder.run("godwit", ["sample", sources, "--version", "1.0.0", "--rows", "60", "--output", store])
    try #require(made.code == 0, "\(made)")
    func mapping(_ by: String) throws {
      try libraryMapping(by: by).write(toFile: file, atomically: true, encoding: .utf8)
    }
    let words = ["--models", sources, "--mappings", file]
    for kind in ["per-row", "repeatable", "random"] {
      try mapping("uid: { uuid: \(kind) }")
      let refused = try folder.run("godwit", ["plan", store] + words)
      let reason = "uuid: \(kind) is new for each row, so by uid finds no object"
      #expect(refused.code == 20 && refused.error.contains(reason), "\(refused)")
    }
    try mapping("text: { join: [\"'found '\", $source.title] }")
    let done = try folder.run("godwit", ["migrate", store] + words)
    #expect(done.code == 0, "\(done)")
    let all = ["ZBOOK", "ZPAGE", "ZTAG", "ZLABEL"].map { "SELECT ZUID FROM \($0)" }.joined(separator: " UNION ALL ")
    let counts = "SELECT count(*) - count(DISTINCT ZUID) AS same, min(length(ZUID)) AS l FROM (\(all))"
    #expect(try ExampleFolder.rows(store, counts) == ["[same:0 l:16]"])
    // Two entity mappings make books, and one of them makes the others.
    let books = try ExampleFolder.rows(store, "SELECT count(*) AS n FROM ZBOOK")
    #expect(try ExampleFolder.rows(store, "SELECT 2 * count(*) AS n FROM ZLABEL") == books)
    let more = "(SELECT count(*) FROM ZBOOK)"
    let tags = "SELECT (SELECT count(*) FROM ZTAG) > \(more) + (SELECT count(*) FROM ZPAGE WHERE ZBOOK > 0) AS n"
    #expect(try ExampleFolder.rows(store, tags) == ["[n:1]"])
  }

  /// A mapping file whose books make four objects each, and one for each page.
  private func libraryMapping(by: String) -> String {
    let tag = "attributes: { uid: { uuid: per-row }, text: $source.title }"
    return """
      from: 1.0.0
      to: 2.0.0
      entities:
        - from: Book
          attributes: { uid: { uuid: per-row } }
          objects:
            - { create: Tag, \(tag) }
            - { create: Tag, \(tag) }
            - { findOrCreate: Tag, by: { \(by) }, attributes: { uid: { uuid: per-row } } }
            - { create: Tag, forEach: $source.pages, attributes: { uid: { uuid: per-row } } }
            - { create: Label, \(tag) }
        - { name: Again, from: Book, attributes: { uid: { uuid: per-row } } }
        - from: Page
          attributes: { uid: { uuid: per-row } }

      """
  }

  /// Two versions of books with pages; the second one has tags, too.
  private func libraries() throws -> String {
    func version(_ number: Int, _ uid: String, _ models: String, _ more: String) -> String {
      """
      enum V\(number): VersionedSchema {
        static let versionIdentifier = Schema.Version(\(number), 0, 0)
        static var models: [any PersistentModel.Type] { [Book.self, Page.self\(models)] }
        @Model class Book { var title: String; @Relationship(inverse: \\Page.book) var pages: [Page]\(uid) }
        @Model class Page { var number: Int; var book: Book?\(uid) }
      \(more)
      }

      """
    }
    let more = ["Tag", "Label"].map { "  @Model class \($0) { var uid: UUID = UUID(); var text: String? }\n" }.joined()
    let path = folder.newPath("Library")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let text = version(1, "", "", "") + version(2, "; var uid: UUID = UUID()", ", Tag.self, Label.self", more)
    try text.write(toFile: path + "/Schema.swift", atomically: true, encoding: .utf8)
    return path
  }
}
