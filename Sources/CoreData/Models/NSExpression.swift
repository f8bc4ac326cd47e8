import CoreDataModel
import Foundation

/// What gives a property its value; a policy may set a constant. Foundation's class of that name is not there on Linux.
open class NSExpression: NSObject {
  /// What a policy gives; nil for an expression of the mapping model, or one that is not a constant.
  let constant: Any??
  private let text: String

  init(_ expression: CoreDataModel.Expression?, of property: String) {
    constant = nil
    text = expression.map { "\($0)" } ?? "$source.\(property)"
  }

  /// A constant; nil for no value.
  public init(forConstantValue value: Any?) { (constant, text) = (.some(value), value.map { "\($0)" } ?? "nil") }

  /// An expression in Apple's format. A property mapping takes constants alone: to set it ends the migration with an
  /// error that says what to write instead.
  public init(format: String, _ arguments: Any?...) { (constant, text) = (nil, format) }

  /// An expression of a key path, as ``init(format:_:)``.
  public init(forKeyPath path: String) { (constant, text) = (nil, path) }

  /// The value of a constant; nil for anything else.
  public var constantValue: Any? { constant ?? nil }

  /// The expression as text.
  open override var description: String { text }
}
