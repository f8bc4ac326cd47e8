import CoreDataModel
import CoreDataStore
import Foundation
import Migrations
import StoreExports
import Streams

/// Where an attribute's value goes, and how it is read.
struct ImportAttribute {
  let column: Int
  let path: String
  let attribute: AttributeDescription
  let rule: ValueRule?

  /// The value as the column holds it. Throws ``ImportProblem``.
  func stored(_ value: ImportValue) throws -> Value {
    let stored = attribute.type.stored(try converted(value))
    if let problem = rule?.problem(stored) { throw ImportProblem("\(path) \(problem)") }
    return stored
  }

  private func problem(_ value: ImportValue) -> ImportProblem {
    let shown =
      switch value {
      case .null: "null"
      case .boolean(let flag): "\(flag)"
      case .integer(let integer): "\(integer)"
      case .real(_, let written): written.count <= 40 ? written : "\(written.prefix(40))…"
      case .text(let text), .field(let text): text.count <= 40 ? "\"\(text)\"" : "\"\(text.prefix(40))…\""
      case .list: "a list"
      case .object: value["keyedArchive"] != nil || value["plist"] != nil ? "what export --decode wrote" : "an object"
      }
    return ImportProblem("\(path) is of type \(attribute.type), and \(shown) is no such value")
  }

  private func converted(_ value: ImportValue) throws -> Value {
    if value == .null { return .null }
    switch attribute.type {
    case .string, .uri: return try text(value)
    case .integer16, .integer32, .integer64: return try integer(value)
    case .boolean: return try boolean(value)
    case .double, .decimal: return try number(value)
    case .float: return try float(value)
    case .date: return try date(value)
    case .uuid: return try uuid(value)
    case .binaryData where attribute.allowsExternalBinaryDataStorage: return try external(value)
    case .binaryData, .transformable: return .blob(try bytes(value))
    case .undefined, .objectID, .composite: return try any(value)
    }
  }

  private func text(_ value: ImportValue) throws -> Value {
    guard case .text(let text) = value.asText else { throw problem(value) }
    return .text(text)
  }

  private func integer(_ value: ImportValue) throws -> Value {
    let integer: Int64? =
      switch value {
      case .integer(let integer): integer
      case .field(let text): Int64(text)
      default: nil
      }
    guard let integer, attribute.type.integerRange.contains(integer) else { throw problem(value) }
    return .integer(integer)
  }

  private func boolean(_ value: ImportValue) throws -> Value {
    switch value {
    case .boolean(let flag): return .integer(flag ? 1 : 0)
    case .integer(0), .field("0"), .field("false"): return .integer(0)
    case .integer(1), .field("1"), .field("true"): return .integer(1)
    default: throw problem(value)
    }
  }

  private func number(_ value: ImportValue) throws -> Value {
    switch value {
    case .integer(let integer): return attribute.type == .double ? .real(Double(integer)) : .integer(integer)
    case .real(let double, _): return .real(double)
    case .text("Infinity"), .field("Infinity"): return .real(.infinity)
    case .text("-Infinity"), .field("-Infinity"): return .real(-.infinity)
    case .field(let text):
      switch ImportNumber(text) {
      case .integer(let integer): return attribute.type == .decimal ? .integer(integer) : .real(Double(integer))
      case .real(let double): return .real(double)
      case nil: throw problem(value)
      }
    default: throw problem(value)
    }
  }

  private func float(_ value: ImportValue) throws -> Value {
    guard case .real(let double) = try number(value) else { return try number(value) }
    return .real(ShortFloat.meant(double))
  }

  private func date(_ value: ImportValue) throws -> Value {
    switch value {
    case .integer(let integer):
      guard !Self.mayBeDay(integer) else { throw ambiguous(integer) }
      return .integer(integer)
    case .real(let double, _): return .real(double)
    case .text(let text), .field(let text):
      if let seconds = ExportDate.seconds(text) { return .real(seconds) }
      switch ImportNumber(text) {
      case .integer(let integer):
        guard !Self.mayBeDay(integer) else { throw ambiguous(integer) }
        return .real(Double(integer))
      case .real(let double): return .real(double)
      case nil: throw problem(value)
      }
    default: throw problem(value)
    }
  }

  /// Whether a number of seconds looks like a day without hyphens, as 20210301.
  static func mayBeDay(_ number: Int64) -> Bool {
    (1000_01_01...9999_12_31).contains(number) && 1...12 ~= number / 100 % 100 && 1...31 ~= number % 100
  }

  private func ambiguous(_ number: Int64) -> ImportProblem {
    let (year, month, day) = (number / 10_000, number / 100 % 100, number % 100)
    func two(_ part: Int64) -> String { part < 10 ? "0\(part)" : "\(part)" }
    return ImportProblem(
      "\(path) is \(number): write \(year)-\(two(month))-\(two(day)) for the day, or \(number).0 for seconds since 2001"
    )
  }

  private func uuid(_ value: ImportValue) throws -> Value {
    guard case .text(let text) = value.asText, let bytes = ExportUUID.bytes(text) else { throw problem(value) }
    return .blob(bytes)
  }

  private func bytes(_ value: ImportValue) throws -> [UInt8] {
    guard case .text(let text) = value.asText, let data = Data(base64Encoded: text) else { throw problem(value) }
    return [UInt8](data)
  }

  /// Bytes follow a marker; the name of a file stands between two (B.4).
  private func external(_ value: ImportValue) throws -> Value {
    if case .text(let name)? = value["externalFile"] { return .blob(try Self.reference(name)) }
    if case .field(let text) = value, text.hasPrefix("external:") {
      return .blob(try Self.reference(String(text.dropFirst(9))))
    }
    return .blob([1] + (try bytes(value)))
  }

  private static func reference(_ name: String) throws -> [UInt8] {
    guard ExportUUID.bytes(name) != nil else { throw ImportProblem("the external file \(name) is no UUID") }
    return [2] + Array(name.utf8) + [0]
  }

  private func any(_ value: ImportValue) throws -> Value {
    switch value {
    case .null: return .null
    case .boolean(let flag): return .integer(flag ? 1 : 0)
    case .integer(let integer): return .integer(integer)
    case .real(let double, _): return .real(double)
    case .text(let text), .field(let text): return .text(text)
    case .list, .object: throw problem(value)
    }
  }
}

extension ImportValue {
  /// A text of either kind.
  fileprivate var asText: ImportValue {
    if case .field(let text) = self { .text(text) } else { self }
  }
}
