/// A type, an extension or a type alias that sources declare, with what models need of it.
struct SourceDeclaration: Sendable {
  enum Kind: String, Sendable {
    case `class`, `struct`, `enum`, `actor`, `protocol`, `extension`, `typealias`

    /// As in a sentence: `an actor`.
    var withArticle: String { ("aeiou".contains(rawValue.prefix(1)) ? "an " : "a ") + rawValue }
  }

  let kind: Kind
  /// One name; of an extension the names of the type that it extends.
  let names: [String]
  let line: Int
  var inherited: [TypeName] = []
  var isGeneric = false
  var uses: [SourceUse] = []
  /// Macros among its members.
  var macros: [SourceUse] = []
  var properties: [SourceProperty] = []
  var cases: [SourceCase] = []
  var nested: [SourceDeclaration] = []
  /// Of a type alias the type that it stands for.
  var aliased: TypeName?
  /// Where it encodes or decodes itself.
  var coding: Int?
  var doubt: SourceDoubt?

  init(kind: Kind, names: [String], line: Int) { (self.kind, self.names, self.line) = (kind, names, line) }

  var name: String { names.last ?? "" }
  /// Whether the class is a model.
  var isModel: Bool { kind == .class && uses.contains { $0.name == "Model" } }
  /// Whether it names a type among those that it inherits from or conforms to.
  func conforms(to name: String) -> Bool {
    inherited.contains { if case .named(let names) = $0 { names.last == name } else { false } }
  }
}
