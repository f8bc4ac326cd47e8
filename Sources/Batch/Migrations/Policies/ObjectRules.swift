import RunSupport
import Streams

/// Which of the model's validation rules objects must keep that a mapping or a policy makes.
public enum ValidationMode: String, Sendable, Codable, CaseIterable {
  /// None.
  case none
  /// Required attributes and to-one relationships have values.
  case required
  /// Besides, numbers and dates are within their bounds, and texts have the lengths and patterns that the model asks
  /// for.
  case all
}

/// What the model demands of the objects of an entity, where a step has mapping models: Core Data asks for it at the
/// save.
final class ObjectRules: @unchecked Sendable {
  // Sendable: nothing changes after init.

  /// What a column must hold.
  struct Column {
    /// The column, and the property with its entity.
    var column: Int
    var property: String
    /// When a value must be there; nil if none must.
    var required: Moment?
    /// What a value must be like; nil for anything.
    var values: ValueRule?
    /// Columns that may have the value in its place: the other cases of an enumeration.
    var others: [Int] = []
  }

  /// When a rule can be judged.
  enum Moment {
    /// When the object is made.
    case made
    /// When the step has written all: until then policies, and relationships from the other side, may set the value.
    case end
  }

  let columns: [Column]
  /// Columns that must have values when the object is made.
  let required: Set<Int>

  init(_ columns: [Column]) {
    self.columns = columns
    required = Set(columns.filter { $0.required == .made && $0.others.isEmpty }.map(\.column))
  }

  /// Whether records with these columns can be made without a look at their values. `constant` gives the value that a
  /// column has in all of them.
  func allowsRecipes(_ constant: (Int) -> Value?) -> Bool {
    columns.allSatisfy { rule in
      guard rule.others.isEmpty else { return false }
      guard let values = rule.values else { return true }
      return constant(rule.column).map { values.problem($0) == nil } ?? false
    }
  }

  /// Throws `policyFailed`, naming property and rule, if a new object is not as the model demands. `mapping` is the
  /// entity mapping's name.
  func check(by mapping: String?, isNull: (Int) throws -> Bool, value: (Int) throws -> Value) throws {
    for rule in columns {
      if rule.required == .made, try isNull(rule.column), try rule.others.allSatisfy(isNull) {
        throw Self.missing(rule.property, mapping)
      }
      if let values = rule.values, let problem = values.problem(try value(rule.column)) {
        throw Self.failure("\(rule.property) \(problem)", mapping)
      }
    }
  }

  /// The same for a value that a written object is given.
  func check(by mapping: String?, _ column: Int, _ value: Value) throws {
    for rule in columns where rule.column == column && rule.others.isEmpty {
      if rule.required == .made, value == .null { throw Self.missing(rule.property, mapping) }
      if let problem = rule.values?.problem(value) { throw Self.failure("\(rule.property) \(problem)", mapping) }
    }
  }

  /// The error for a required property without value.
  static func missing(_ property: String, _ mapping: String? = nil, isLate: Bool = false) -> BatchError {
    var error = failure("\(property) is required and would have no value (Core Data's error 1570)", mapping)
    // Known when all is written, so that the object can no longer be set aside.
    if isLate { error.hint = "Mend the mapping; with --validate none such objects are written as they are" }
    return error
  }

  private static func failure(_ what: String, _ mapping: String?) -> BatchError {
    BatchError(
      .policyFailed, mapping.map { "\(what); the entity mapping is \($0)" } ?? what,
      hint:
        "Mend the mapping, or set such objects aside with --max-rejects; with --validate none they are written as they are"
    )
  }
}
