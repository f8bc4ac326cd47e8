/// What one file of Swift says, without its path: files with the same bytes have the same contents.
struct SourceContents: Sendable {
  var declarations: [SourceDeclaration] = []
  /// Variables of the file itself.
  var globals: [SourceProperty] = []
  /// Calls that name the classes of a schema: `Schema([…])`, `ModelContainer(for: …)`, `.modelContainer(for: …)`.
  var schemas: [SourceUse] = []
}

/// A file of Swift that was read.
struct SourceFile: Sendable {
  let path: String
  let contents: SourceContents
}
