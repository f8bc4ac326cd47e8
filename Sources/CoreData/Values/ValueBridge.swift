import CoreDataModel
import Foundation
import Streams

/// Values of stores as objects of Foundation, and back.
enum ValueBridge {
  /// What KVC gives for a stored value of an attribute: a number as NSNumber, so that `as? Int`, `as? Bool` and
  /// `as? Double` have what they ask for. Throws ``Misfit`` for a value that cannot be one.
  static func object(_ value: Value, _ type: AttributeType) throws -> Any? {
    switch (type, value) {
    case (_, .null): return nil
    case (.boolean, .integer(let integer)): return NSNumber(value: integer != 0)
    case (.float, .real(let double)): return NSNumber(value: Float(double))
    case (.decimal, .real(let double)): return NSDecimalNumber(string: "\(double)")
    case (.decimal, .integer(let integer)): return NSDecimalNumber(string: "\(integer)")
    case (.date, .real(let seconds)): return Date(timeIntervalSinceReferenceDate: seconds)
    case (.date, .integer(let seconds)): return Date(timeIntervalSinceReferenceDate: Double(seconds))
    case (.uuid, .blob(let bytes)): return bytes.count == 16 ? uuid(bytes) : nil
    case (.uri, .text(let text)): return URL(string: text)
    case (.transformable, .blob(let bytes)): return try ArchivedObject.object(bytes)
    case (.composite, _): throw Misfit("is composite: ask for its elements by their own names")
    case (_, .integer(let integer)): return NSNumber(value: integer)
    case (_, .real(let double)): return NSNumber(value: double)
    case (_, .text(let text)): return text
    case (_, .blob(let bytes)): return Data(bytes)
    }
  }

  private static func uuid(_ bytes: [UInt8]) -> UUID {
    bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  /// A value as an attribute of a type has it. Nil where the object is of another kind.
  static func value(_ object: Any?, _ type: AttributeType) -> Value? {
    guard let object else { return .null }
    // A cast to NSNull is slow, and most objects are of the attribute's kind.
    return fitting(object, type) ?? (object is NSNull ? .null : nil)
  }

  private static func fitting(_ object: Any, _ type: AttributeType) -> Value? {
    switch type {
    case .string: return (object as? String).map { .text($0) }
    case .double, .float, .decimal: return (object as? Double).map { .real($0) } ?? number(object)
    case .integer16, .integer32, .integer64: return (object as? Int).map { .integer(Int64($0)) } ?? number(object)
    case .boolean: return (object as? Bool).map { .integer($0 ? 1 : 0) } ?? number(object)
    case .date, .uuid, .uri, .binaryData: return any(object)
    case .transformable: return object is NSNull ? nil : (try? ArchivedObject.bytes(object)).map { .blob($0) }
    case .undefined, .objectID, .composite: return nil
    }
  }

  private static func number(_ object: Any) -> Value? {
    guard let number = object as? NSNumber else { return nil }
    // "d" and "f"; a decimal says "d" as well.
    return [0x64, 0x66].contains(number.objCType.pointee) ? .real(number.doubleValue) : .integer(number.int64Value)
  }

  /// The value of an object whose attribute is not known. Nil for what no attribute holds.
  static func any(_ object: Any?) -> Value? {
    switch object {
    case nil: return .null
    case let text as String: return .text(text)
    case let date as Date: return .real(date.timeIntervalSinceReferenceDate)
    case let uuid as UUID: return .blob(withUnsafeBytes(of: uuid.uuid) { [UInt8]($0) })
    case let url as URL: return .text(url.absoluteString)
    case let data as Data: return .blob([UInt8](data))
    case is NSNull: return .null
    default: return object.flatMap { number($0) }
    }
  }
}

/// Why a value cannot be given; reads on after the name of the property.
struct Misfit: Error {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}
