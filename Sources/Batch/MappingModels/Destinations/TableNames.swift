/// How tables and columns are named where a result leaves Core Data.
public enum TableNames: String, Sendable, Codable, CaseIterable {
  /// `BookAuthor.createdAt` is `book_author.created_at`; the key is `id`, a to-one's key `author_id`.
  case snakeCase = "snake-case"
  /// Core Data's own: `ZBOOKAUTHOR.ZCREATEDAT`, `Z_PK`.
  case coreData = "core-data"
}
