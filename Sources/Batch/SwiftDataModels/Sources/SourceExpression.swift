/// An expression as far as models need it.
indirect enum SourceExpression: Sendable, Hashable {
  case text(String)
  case integer(Int64)
  case real(Double)
  case truth(Bool)
  case none
  case name(String)
  /// `.name`, or `base.name`.
  case member(SourceExpression?, String)
  case call(SourceExpression, [SourceArgument])
  /// `\Root.a.b`: the root's names, if it has any, and the names after it.
  case keyPath(root: [String], names: [String])
  case array([SourceExpression])
  /// `[String]()`, `[:]` and others whose type is written in them.
  case typed(TypeName)
  case sum(SourceExpression, SourceExpression)
  case closure
  /// Anything else, as written; only its beginning is kept.
  case other(String)

  /// `A.B`, if it is nothing but names.
  var names: [String]? {
    switch self {
    case .name(let name): [name]
    case .member(.some(let base), let name): base.names.map { $0 + [name] }
    default: nil
    }
  }

  /// The names before `.self`.
  var metatype: [String]? {
    guard case .member(.some(let base), "self") = self else { return nil }
    return base.names
  }
}

/// An argument of a call, an attribute or a macro.
struct SourceArgument: Sendable, Hashable {
  var label: String?
  var value: SourceExpression
}

extension Array where Element == SourceArgument {
  subscript(label: String) -> SourceExpression? { first { $0.label == label }?.value }
}
