import Streams

extension Expression: CustomStringConvertible {
  /// The expression as predicate format writes it: `$source.name`, `FUNCTION($manager, "selector:", $source)`, `now()`.
  public var description: String {
    switch self {
    case .constant(let value): return Self.text(value)
    case .variable(Self.evaluatedObject): return Self.evaluatedObject
    case .variable(let name): return "$" + name
    case .keyPath(let operand, let path): return ([operand.description] + path).joined(separator: ".")
    case .function(nil, let name, let arguments):
      return "\(name)(\(arguments.map(\.description).joined(separator: ", ")))"
    case .function(let operand?, let name, let arguments):
      let parts = [operand.description, Self.text(.text(name))] + arguments.map(\.description)
      return "FUNCTION(\(parts.joined(separator: ", ")))"
    }
  }

  /// The name of the variable that stands for the object an expression is evaluated with.
  public static let evaluatedObject = "SELF"

  private static func text(_ value: Value) -> String {
    switch value {
    case .null: return "nil"
    case .integer(let number): return String(number)
    case .real(let number): return String(number)
    case .text(let text):
      return "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    case .blob(let bytes): return "<\(bytes.count) bytes>"
    }
  }
}
