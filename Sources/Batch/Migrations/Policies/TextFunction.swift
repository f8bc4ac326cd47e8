import CoreDataModel
import Foundation
import Streams

/// Functions of several values: of collections, and of collection operators.
enum Aggregate {
  /// NULL counts as zero for sum and average, and not at all for the least and the largest.
  static func value(_ name: String, _ values: [Value]) throws -> Value {
    switch name {
    case "sum": return try values.reduce(.integer(0)) { $1 == .null ? $0 : try Arithmetic.apply("add:to:", to: $0, $1) }
    case "avg":
      guard !values.isEmpty else { return .integer(0) }
      let sum = try value("sum", values)
      return .real((Arithmetic.double(sum) ?? 0) / Double(values.count))
    default:
      let present = values.filter { $0 != .null }
      guard var best = present.first else { return .null }
      for value in present.dropFirst() {
        let order = try Comparing.order(value, best)
        if name == "min" ? order < 0 : order > 0 { best = value }
      }
      return best
    }
  }
}

/// Arithmetic of numbers: integers stay integers, and what they cannot hold is damage. NULL makes the result NULL.
enum Arithmetic {
  static func double(_ value: Value) -> Double? {
    switch value {
    case .integer(let integer): Double(integer)
    case .real(let double): double
    default: nil
    }
  }

  static func apply(_ name: String, to left: Value, _ right: Value) throws -> Value {
    if left == .null || right == .null { return .null }
    if case .integer(let left) = left, case .integer(let right) = right, name != "raise:toPower:" {
      return .integer(try whole(name, left: left, right: right))
    }
    guard let left = double(left), let right = double(right) else {
      throw ExpressionDamage("calculates with what is no number")
    }
    let result: Double =
      switch name {
      case "add:to:": left + right
      case "from:subtract:": left - right
      case "multiply:by:": left * right
      case "divide:by:": left / right
      case "modulus:by:": fmod(left, right)
      default: pow(left, right)
      }
    guard result.isFinite else { throw ExpressionDamage("gives a number that is not finite") }
    return .real(result)
  }

  private static func whole(_ name: String, left: Int64, right: Int64) throws -> Int64 {
    if right == 0, name == "divide:by:" || name == "modulus:by:" { throw ExpressionDamage("divides by zero") }
    let (result, overflow) =
      switch name {
      case "add:to:": left.addingReportingOverflow(right)
      case "from:subtract:": left.subtractingReportingOverflow(right)
      case "multiply:by:": left.multipliedReportingOverflow(by: right)
      case "divide:by:": left.dividedReportingOverflow(by: right)
      default: left.remainderReportingOverflow(dividingBy: right)
      }
    guard !overflow else { throw ExpressionDamage("gives an integer of more than 64 bits") }
    return result
  }

  /// Functions of one number.
  static func apply(_ name: String, _ value: Value) throws -> Value {
    switch value {
    case .null: return .null
    case .integer(let integer) where name == "abs:":
      guard integer != .min else { throw ExpressionDamage("gives an integer of more than 64 bits") }
      return .integer(abs(integer))
    case .integer where name != "sqrt:": return value
    default: break
    }
    guard let number = double(value) else { throw ExpressionDamage("calculates with what is no number") }
    let result: Double =
      switch name {
      case "abs:": abs(number)
      case "ceiling:": number.rounded(.up)
      case "floor:": number.rounded(.down)
      case "trunc:": number.rounded(.towardZero)
      default: number.squareRoot()
      }
    guard result.isFinite else { throw ExpressionDamage("gives a number that is not finite") }
    return .real(result)
  }
}

/// Functions of texts, and casts.
enum TextFunction {
  static func apply(_ name: String, _ value: Value) throws -> Value {
    if value == .null { return .null }
    guard case .text(let text) = value else { throw ExpressionDamage("calls \(name) with what is no text") }
    switch name {
    case "uppercase:": return .text(text.uppercased())
    case "lowercase:": return .text(text.lowercased())
    case "canonical:": return .text(Comparing.folded(text, options: 3))
    default: return .integer(Int64(text.utf16.count))
    }
  }

  /// A date is the number of its seconds since 2001.
  static func cast(_ value: Value, to type: String) throws -> Value {
    switch (value, type) {
    case (.null, _): return .null
    case (.text, "NSString"): return value
    case (.integer(let integer), "NSString"): return .text(String(integer))
    case (.real(let double), "NSString"): return .text(Int64(exactly: double).map(String.init) ?? double.description)
    case (.integer(let integer), "NSDate"): return .real(Double(integer))
    case (.real, "NSDate"), (.integer, "NSNumber"), (.real, "NSNumber"), (.integer, "NSDecimalNumber"),
      (.real, "NSDecimalNumber"):
      return value
    case (.text(let text), "NSNumber"), (.text(let text), "NSDecimalNumber"):
      let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
      if let integer = Int64(trimmed) { return .integer(integer) }
      if let double = Double(trimmed), double.isFinite { return .real(double) }
      throw ExpressionDamage("casts a text that is no number to \(type)")
    default: throw ExpressionDamage("casts to \(type) what cannot become one")
    }
  }
}
