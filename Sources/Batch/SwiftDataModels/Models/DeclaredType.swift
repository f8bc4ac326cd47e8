/// A type that sources declare, in its place among the others.
struct DeclaredType: Sendable {
  let declaration: SourceDeclaration
  let path: String
  /// The type that it is declared in.
  let parent: Int?
  /// Types declared in it and in its extensions, by name; several if sources declare a name twice.
  var children: [String: [Int]] = [:]
  /// Its extensions, with the files that they are in.
  var extensions: [(declaration: SourceDeclaration, path: String)] = []
  /// A type of another module, which sources only extend.
  var isExternal = false

  /// Where it is declared.
  var place: SourcePlace { SourcePlace(path: path, line: declaration.line) }

  /// Its own properties and those of its extensions, which are none of stored ones.
  var properties: [(property: SourceProperty, path: String)] {
    declaration.properties.map { ($0, path) }
      + extensions.flatMap { part in
        part.declaration.properties.map { ($0, part.path) }
      }
  }

  /// What it inherits from and conforms to, its extensions included.
  func conforms(to name: String) -> Bool {
    declaration.conforms(to: name) || extensions.contains { $0.declaration.conforms(to: name) }
  }
}
