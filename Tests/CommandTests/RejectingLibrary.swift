import Foundation
import GRDB

@testable import BatchCommand
@testable import RunSupport

/// A library of version 1 whose titles and names are texts of digits, but for some, and mapping files to version 2.
final class RejectingLibrary {
  let folder: CommandFolder
  let store: String
  let output: String

  init() throws {
    folder = try CommandFolder()
    (store, output) = (try folder.sample(rows: 1025), folder.file("New.sqlite"))
    let queue = try DatabaseQueue(path: store)
    try queue.write { db in
      try db.execute(sql: "UPDATE ZBOOK SET ZTITLE = CASE Z_PK % 50 WHEN 0 THEN 'x' ELSE '1' END")
      try db.execute(sql: "UPDATE ZUSER SET ZNAME = CASE Z_PK % 10 WHEN 0 THEN 'x' ELSE '1' END")
    }
    try queue.close()
  }

  func mapping(_ user: String = "User", book: String = "Book") throws -> String {
    let path = folder.newPath("Step.yaml")
    try """
    from: Library 1
    to: Library 2
    entities:
      - \(user)
      - to: Author
      - \(book)

    """.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  func words(_ mapping: String) -> [String] { ["--models", ExampleFolder.models, "--mappings", mapping] }

  func migrate(_ mapping: String, _ more: [String] = []) throws -> CommandProcess.Outcome {
    let words = ["migrate", store, "--to", "Library 2", "--output", output, "--max-rejects", "10%"]
    return try folder.run("godwit", words + self.words(mapping) + more)
  }

  func count(_ sql: String) throws -> UInt64 {
    let queue = try DatabaseQueue(path: store)
    defer { try? queue.close() }
    return try queue.read { UInt64(try Int64.fetchOne($0, sql: sql) ?? 0) }
  }

  /// Values of the store that are not NULL.
  func values(_ entity: String, _ names: [String], where condition: String = "1") throws -> UInt64 {
    let sum = names.map { "count(Z\($0.uppercased()))" }.joined(separator: " + ")
    return try count("SELECT \(sum) FROM Z\(entity.uppercased()) WHERE \(condition)")
  }

  static let bookNames = ["authorName", "fileURL", "isbn", "pages", "published", "rating", "title"]
  static let rejectedBooks = "- from: Book\n    attributes:\n      rating: { cast: $source.title, to: double }"
  static let rejectedUsers = "- from: User\n    attributes:\n      userId: { cast: $source.name, to: integer }"

  /// Checks that the parts of each sum in a line add up to it: `5 objects (3 carried, 2 left out)`.
  static func addsUp(_ line: Substring) -> Bool {
    let sums = line.matches(of: /([\d,]+) (?:objects|values|links) \(([^)]*)\)/)
    return !sums.isEmpty
      && sums.allSatisfy { sum in
        let parts = sum.2.matches(of: /(\d[\d,]*) [a-z]/).map { number($0.1) }
        return number(sum.1) == parts.reduce(0, +)
      }
  }

  private static func number(_ text: Substring) -> UInt64 { UInt64(text.filter(\.isNumber)) ?? 0 }
}
