/// What one file of Swift says, without its path: files with the same bytes have the same contents.
struct SourceContents: Sendable {
  var declarations: [SourceDeclaration] = []
  /// Variables of the file itself.
  var globals: [SourceProperty] = []
  /// Calls that name the classes of a schema: `Schema([…])`, `ModelContainer(for: …)`, `.modelContainer(for: …)`.
  var schemas: [SourceUse] = []
  /// Where variables are changed, if the file names types as values.
  var changes: [SourceChange] = []
}

/// A statement that changes a variable: `types.append(A.self)`, `types += more`, `types = []`.
struct SourceChange: Sendable {
  let name: String
  let line: Int
  /// Whether types stand in it: `A.self`.
  let namesTypes: Bool
}

/// A file of Swift that was read.
struct SourceFile: Sendable {
  let path: String
  let contents: SourceContents
}
