/// A JSON document of another process, as it is: it is looked at by its keys, and passed on.
enum JSONValue: Codable, Sendable, Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // What is most frequent first: an attempt that fails costs as much as ten that do not.
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode([String: JSONValue].self) {
      self = .object(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else {
      self = .number(try container.decode(Double.self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }

  /// The value under a key; nil if there is none.
  subscript(key: String) -> JSONValue? {
    guard case .object(let values) = self, let value = values[key], value != .null else { return nil }
    return value
  }

  var text: String? { if case .string(let value) = self { value } else { nil } }

  var double: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    case .null, .bool, .string, .array, .object: nil
    }
  }

  /// A number of things; nil for what is none.
  var count: UInt64? { double.flatMap { $0 >= 0 && $0 < 0x1p63 ? UInt64($0) : nil } }

  var elements: [JSONValue] { if case .array(let values) = self { values } else { [] } }

  /// The object without a key.
  func removing(_ key: String) -> JSONValue {
    guard case .object(var values) = self else { return self }
    values[key] = nil
    return .object(values)
  }
}
