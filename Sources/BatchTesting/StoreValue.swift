/// What an export says of a value in a store: numbers and truth values as they are, dates, UUIDs and URIs as text,
/// bytes as base64. Literals can be compared with it: `book["title"] == "Emma"`.
public enum StoreValue: Sendable, Equatable {
  /// No value, or no object.
  case null
  /// A truth value.
  case boolean(Bool)
  /// A whole number.
  case integer(Int64)
  /// Any other number.
  case real(Double)
  /// A text, or what is written as one.
  case text(String)
  /// A to-one relationship's object: its entity and its key. Also a composite attribute, or a value in a file beside
  /// the store.
  case object([String: StoreValue])
  /// A to-many relationship's keys, in their order where the relationship is ordered, or the elements of another list.
  case list([StoreValue])

  /// The text; nil for anything else.
  public var text: String? { if case .text(let text) = self { text } else { nil } }
  /// The whole number; nil for anything else.
  public var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }
  /// The number, whole or not; nil for anything else.
  public var number: Double? {
    switch self {
    case .integer(let integer): Double(integer)
    case .real(let real): real
    default: nil
    }
  }
  /// The keys (Z_PK) of a relationship's objects, to-one or to-many.
  public var keys: [Int64] {
    switch self {
    case .object(let members): [members["key"]?.integer].compactMap { $0 }
    case .list(let elements): elements.compactMap(\.integer)
    default: []
    }
  }
}

extension StoreValue: Decodable {
  /// Reads a value of JSON.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let flag = try? container.decode(Bool.self) {
      self = .boolean(flag)
    } else if let number = try? container.decode(Int64.self) {
      self = .integer(number)
    } else if let number = try? container.decode(Double.self) {
      self = .real(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let list = try? container.decode([StoreValue].self) {
      self = .list(list)
    } else {
      self = .object(try container.decode([String: StoreValue].self))
    }
  }
}

extension StoreValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral
{
  /// No value.
  public init(nilLiteral: ()) { self = .null }
  /// A truth value.
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  /// A whole number.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// A number.
  public init(floatLiteral value: Double) { self = .real(value) }
  /// A text.
  public init(stringLiteral value: String) { self = .text(value) }
  /// A list.
  public init(arrayLiteral elements: StoreValue...) { self = .list(elements) }
}
