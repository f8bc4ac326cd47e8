/// A type as sources write it.
indirect enum TypeName: Sendable, Hashable {
  /// A name with the names before its points, without generic arguments.
  case named([String])
  case optional(TypeName)
  case array(TypeName)
  case dictionary(TypeName, TypeName)
  /// Anything else, as written.
  case other(String)

  /// As sources write it, without spaces of their own.
  var text: String {
    switch self {
    case .named(let names): names.joined(separator: ".")
    case .optional(let type): type.text + "?"
    case .array(let type): "[\(type.text)]"
    case .dictionary(let key, let value): "[\(key.text): \(value.text)]"
    case .other(let text): text
    }
  }

  /// The type without `?`, and whether there was one.
  var unwrapped: (type: TypeName, isOptional: Bool) {
    guard case .optional(let type) = self else { return (self, false) }
    return (type.unwrapped.type, true)
  }
}
