import CoreDataModel
import Foundation
import Streams

/// The values that attributes begin with, as far as sources write them down.
enum DefaultReader {
  /// Puts the value into the attribute, or what is known of one that is not written down.
  static func read(_ value: SourceExpression, at place: SourcePlace, into attribute: inout AttributeDescription) {
    switch (attribute.type, value) {
    case (_, .none): break
    case (.uuid, .call(let function, let arguments)) where arguments.isEmpty && makes("UUID", function):
      attribute.userInfo[AttributeDescription.evaluatedDefault] = "UUID()"
    case (.date, .call(let function, let arguments)) where arguments.isEmpty && makes("Date", function):
      attribute.userInfo[AttributeDescription.evaluatedDefault] = "Date()"
    case (.date, .member(let base, "now")) where isDate(base):
      attribute.userInfo[AttributeDescription.evaluatedDefault] = "Date()"
    default:
      attribute.defaultValue = literal(value, attribute.type)
      if attribute.defaultValue == nil { attribute.userInfo[AttributeDescription.unreadDefault] = "\(place)" }
    }
  }

  /// What stands before the point of a member of `Date`.
  private static func isDate(_ base: SourceExpression?) -> Bool { base == nil || base?.names?.last == "Date" }

  /// A moment that does not change, in seconds since 2001.
  private static func moment(_ value: SourceExpression) -> Double? {
    switch value {
    case .member(let base, "distantPast") where isDate(base): return Date.distantPast.timeIntervalSinceReferenceDate
    case .member(let base, "distantFuture") where isDate(base): return Date.distantFuture.timeIntervalSinceReferenceDate
    case .call(let function, let arguments) where arguments.count == 1 && makes("Date", function):
      guard let seconds = number(arguments[0].value) else { return nil }
      switch arguments[0].label {
      case "timeIntervalSinceReferenceDate": return seconds
      case "timeIntervalSince1970": return seconds - Date.timeIntervalBetween1970AndReferenceDate
      default: return nil
      }
    default: return nil
    }
  }

  private static func number(_ value: SourceExpression) -> Double? {
    switch value {
    case .integer(let number): Double(number)
    case .real(let number): number
    default: nil
    }
  }

  /// `UUID()`, `UUID.init()`, `.init()`.
  private static func makes(_ type: String, _ function: SourceExpression) -> Bool {
    if case .member(nil, "init") = function { return true }
    return function.names.map { $0.last == "init" ? $0.dropLast().last == type : $0.last == type } ?? false
  }

  private static func literal(_ value: SourceExpression, _ type: AttributeType) -> Value? {
    switch (type, value) {
    case (.string, .text(let text)): .text(text)
    case (.boolean, .truth(let truth)): .integer(truth ? 1 : 0)
    case (.integer16, .integer(let number)): Int16(exactly: number).map { .integer(Int64($0)) }
    case (.integer32, .integer(let number)): Int32(exactly: number).map { .integer(Int64($0)) }
    case (.integer64, .integer(let number)): .integer(number)
    case (.double, .integer), (.float, .integer), (.decimal, .integer), (.double, .real), (.float, .real),
      (.decimal, .real):
      number(value).map { .real($0) }
    case (.date, _): moment(value).map { .real($0) }
    case (_, .call(let function, let arguments)) where arguments.count == 1 && arguments[0].label == nil:
      // `Decimal(0)`
      function.names.map { $0.count == 1 && $0[0] == swiftName(type) } == true ? literal(arguments[0].value, type) : nil
    default: nil
    }
  }

  private static func swiftName(_ type: AttributeType) -> String? {
    switch type {
    case .decimal: "Decimal"
    case .double: "Double"
    case .float: "Float"
    case .integer64: "Int"
    case .string: "String"
    default: nil
    }
  }
}
