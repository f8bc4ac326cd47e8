import CoreDataModel
import Foundation
import Streams

/// The values that attributes begin with, as far as sources write them down.
enum DefaultReader {
  /// Puts the value into the attribute. A value that is no literal leaves it without one.
  static func read(_ value: SourceExpression, into attribute: inout AttributeDescription) {
    switch (attribute.type, value) {
    case (.uuid, .call(let function, let arguments)) where arguments.isEmpty && makes("UUID", function):
      attribute.userInfo[AttributeDescription.evaluatedDefault] = "UUID()"
    case (.date, .call(let function, let arguments)) where arguments.isEmpty && makes("Date", function):
      attribute.userInfo[AttributeDescription.evaluatedDefault] = "Date()"
    case (.date, .member(let base, "now")) where base == nil || base?.names?.last == "Date":
      attribute.userInfo[AttributeDescription.evaluatedDefault] = "Date()"
    default: attribute.defaultValue = literal(value, attribute.type)
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
    case (.double, .integer(let number)), (.float, .integer(let number)), (.decimal, .integer(let number)):
      .real(Double(number))
    case (.double, .real(let number)), (.float, .real(let number)), (.decimal, .real(let number)): .real(number)
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
