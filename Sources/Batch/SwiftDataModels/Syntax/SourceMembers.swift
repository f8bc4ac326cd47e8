/// What is declared in one place: in a type or in a file.
struct SourceMembers {
  var nested: [SourceDeclaration] = []
  var properties: [SourceProperty] = []
  var cases: [SourceCase] = []
  var macros: [SourceUse] = []
  /// The line of an own `init(from:)` or `encode(to:)`.
  var coding: Int?
}
