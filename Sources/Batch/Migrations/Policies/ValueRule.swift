import CoreDataModel
import CoreDataStore
import Foundation
import RunSupport
import Streams

/// What the values of an attribute must be like by its model: bounds of numbers and dates, length and pattern of texts.
/// NULL is always allowed.
package struct ValueRule {
  private let isText: Bool
  private let isDate: Bool
  private let minimum: Double?
  private let maximum: Double?
  private let pattern: NSRegularExpression?

  /// Nil if the model demands nothing. Throws `badModel` for a pattern that cannot be read.
  package init?(_ attribute: AttributeDescription, of entity: String) throws {
    (isText, isDate) = ([.string, .uri].contains(attribute.type), attribute.type == .date)
    guard isText || isDate || attribute.type.isNumeric else { return nil }
    (minimum, maximum) = (
      Self.bound(attribute.minimumValue, attribute.type), Self.bound(attribute.maximumValue, attribute.type)
    )
    do {
      pattern =
        try isText ? attribute.regularExpression.map { try NSRegularExpression(pattern: "\\A(?:\($0))\\z") } : nil
    } catch {
      throw BatchError(
        .badModel, "the regular expression of \(attribute.name) cannot be read",
        hint: "Correct it in the model, or migrate with --validate required", effect: .nothingWritten, entity: entity,
        cause: error)
    }
    if minimum == nil, maximum == nil, pattern == nil { return nil }
  }

  private static func bound(_ value: Value?, _ type: AttributeType) -> Double? {
    let number: Double? =
      switch value {
      case .integer(let integer): Double(integer)
      case .real(let double): double
      case .text(let text): Double(text)
      default: nil
      }
    return number.map { type == .float ? Double(Float($0)) : $0 }
  }

  /// What is wrong with a value, without the value; nil if nothing is.
  package func problem(_ value: Value) -> String? {
    switch value {
    case .text(let text) where isText: problem(text)
    case .integer(let integer) where !isText: problem(Double(integer))
    case .real(let double) where !isText: problem(double)
    default: nil
    }
  }

  private func problem(_ number: Double) -> String? {
    if let minimum, number < minimum {
      return isDate
        ? "is before the model's minimum (Core Data's error 1640)"
        : "is below the model's minimum (Core Data's error 1620)"
    }
    if let maximum, number > maximum {
      return isDate
        ? "is after the model's maximum (Core Data's error 1630)"
        : "is above the model's maximum (Core Data's error 1610)"
    }
    return nil
  }

  private func problem(_ text: String) -> String? {
    // Core Data counts as NSString does.
    let length = Double(text.utf16.count)
    if let minimum, length < minimum { return "is shorter than the model allows (Core Data's error 1670)" }
    if let maximum, length > maximum { return "is longer than the model allows (Core Data's error 1660)" }
    guard let pattern, pattern.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) == nil else {
      return nil
    }
    return "does not match the model's regular expression (Core Data's error 1680)"
  }
}
