/// A variable or constant that sources declare.
struct SourceProperty: Sendable {
  let name: String
  let line: Int
  var type: TypeName?
  /// What follows `=`, or the one expression of a getter.
  var value: SourceExpression?
  var uses: [SourceUse] = []
  var isStatic = false
  /// Has a getter: it is not stored.
  var isComputed = false
  var isConstant = false
  var isLazy = false
  /// Only its file sees it.
  var isPrivate = false
  /// The `#if` around it that could not be decided.
  var doubt: SourceDoubt?
}

/// An attribute (`@Attribute(.unique)`) or a macro (`#Index<Trip>([\.name])`).
struct SourceUse: Sendable {
  let name: String
  let line: Int
  var arguments: [SourceArgument] = []
  var doubt: SourceDoubt?
}

/// A case of an enumeration.
struct SourceCase: Sendable {
  let name: String
  let line: Int
  /// Has associated values.
  var hasValues: Bool
  /// Has a raw value of its own: `case a = "A"`.
  var hasRawValue: Bool
  var doubt: SourceDoubt?
}

/// A condition of `#if` that neither the sources nor `-D` decide.
struct SourceDoubt: Sendable, Hashable {
  let condition: String
  let line: Int
  /// What `-D` has to give so that it is true, and so that it is false; empty if it cannot.
  var whenTrue: [String] = []
  /// See ``whenTrue``.
  var whenFalse: [String] = []
}
