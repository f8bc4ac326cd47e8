import CoreDataModel
import Migrations
import RunSupport
import Streams

/// Which rows an export takes: those for which a condition holds, and those with a date that is not before another.
///
/// Compiled once for a table; a row is looked at without being copied, except for the columns that are asked about.
package struct ExportFilter {
  /// A column that a condition may name.
  struct Place {
    var position: Int
    var kind: ExportKind
    /// Whether its values are texts.
    var isText = false
    /// Whether its values are keys of other objects.
    var isKey = false
  }

  private enum Operand {
    case key
    case column(Place)
    case constant(ExpressionValue)
  }

  private indirect enum Condition {
    case truth(Bool)
    case compound(Predicate.Junction, [Condition])
    case compare(Operand, Predicate.Operation, Operand)
    case matches(Operand, TextPattern)
  }

  /// The name by which conditions ask for an object's key.
  static let keyName = "Z_PK"

  private var condition: Condition?
  private let since: Double?
  private let dates: [Int]

  /// Nil if every row is taken. `dates` are positions of columns with dates; `find` knows columns by name.
  ///
  /// - Throws: ``BatchError`` (`refused`) for what is no condition on these columns.
  init?(_ options: ExportOptions, dates: [Int], find: (String) -> Place?) throws {
    guard options.condition != nil || options.since != nil else { return nil }
    (since, self.dates) = (options.since, dates)
    guard let text = options.condition else { return }
    do {
      condition = try Self.compile(PredicateParser.predicate(text, isStrict: true), find)
    } catch let damage as ExpressionDamage {
      throw BatchError(.refused, "the condition \(text) \(damage)", hint: FilterAdvice.hint(for: damage, in: text))
    }
  }

  private static func compile(_ predicate: Predicate, _ find: (String) -> Place?) throws -> Condition {
    switch predicate {
    case .truth(let value): return .truth(value)
    case .compound(let junction, let parts): return .compound(junction, try parts.map { try compile($0, find) })
    case .compare(let left, let operation, let right):
      guard operation.modifier == .direct else {
        throw ExpressionDamage("has ANY or ALL, which asks about other objects", hint: "")
      }
      let kind = try kind(left, find) ?? kind(right, find)
      let (left, right) = (try operand(left, as: kind, find), try operand(right, as: kind, find))
      try check(operation.comparison, right)
      try refuseNumber(left, right)
      try refuseNumber(right, left)
      if operation.comparison == .matches, case .constant(.value(.text(let pattern))) = right {
        return .matches(left, try TextPattern(pattern, operation.options))
      }
      return .compare(left, operation, right)
    }
  }

  /// What would be false for every row is a mistake.
  private static func check(_ comparison: Predicate.Comparison, _ right: Operand) throws {
    switch (comparison, right) {
    case (.between, .constant(.list(let bounds))) where bounds.count == 2: break
    case (.between, _): throw ExpressionDamage("has BETWEEN without two bounds", hint: "")
    case (.isIn, .constant(.list)), (.isIn, .constant(.value(.text))), (.isIn, .column): break
    case (.isIn, _): throw ExpressionDamage("has IN without a list", hint: "")
    default: break
    }
  }

  /// No text is less than, equal to or greater than a number.
  private static func refuseNumber(_ column: Operand, _ other: Operand) throws {
    guard case .column(let place) = column, place.isText, case .constant(let constant) = other else { return }
    func refuse(_ value: ExpressionValue) throws {
      switch value {
      case .value(.integer(let number)): throw ExpressionDamage("compares a text with \(number): write '\(number)'")
      case .value(.real(let number)): throw ExpressionDamage("compares a text with \(number): write '\(number)'")
      case .list(let members): try members.forEach(refuse)
      default: break
      }
    }
    try refuse(constant)
  }

  /// The kind of the column that a side of a comparison names.
  private static func kind(_ side: Expression, _ find: (String) -> Place?) throws -> ExportKind? {
    guard case .keyPath(.evaluatedObject, let path) = side else { return nil }
    return find(path.joined(separator: "."))?.kind
  }

  private static func operand(
    _ side: Expression, as kind: ExportKind?, _ find: (String) -> Place?
  ) throws -> Operand {
    if case .keyPath(.evaluatedObject, let path) = side {
      let name = path.joined(separator: ".")
      if let place = find(name) { return .column(place) }
      if name == keyName { return .key }
      throw FilterAdvice.unknown(path, isKey: path.first.flatMap(find)?.isKey)
    }
    return .constant(try constant(side, kind))
  }

  private static func constant(_ side: Expression, _ kind: ExportKind?) throws -> ExpressionValue {
    switch side {
    case .constant(let value): return .value(try adapted(value, to: kind))
    case .decimal(let digits):
      guard let number = Double(digits) else { throw ExpressionDamage("has a number that is none: \(digits)") }
      return .value(try adapted(.real(number), to: kind))
    case .date(let seconds): return .value(.real(seconds))
    case .aggregate(let members): return .list(try members.map { try constant($0, kind) })
    case .evaluatedObject, .variable, .keyPath, .function, .subquery, .conditional, .set, .fetch:
      throw ExpressionDamage("has \(side), and here only columns and constants are compared", hint: "")
    }
  }

  /// Texts of dates and UUIDs, and numbers of Floats, as the values that such columns hold.
  private static func adapted(_ value: Value, to kind: ExportKind?) throws -> Value {
    if case .real(let number) = value, kind == .float { return .real(ShortFloat.meant(number)) }
    guard case .text(let text) = value else { return value }
    switch kind {
    case .date:
      guard let seconds = ExportDate.seconds(text) else {
        throw ExpressionDamage("compares a date with \(text), which is none in ISO 8601", hint: "")
      }
      return .real(seconds)
    case .uuid:
      guard let bytes = ExportUUID.bytes(text) else {
        throw ExpressionDamage("compares a UUID with \(text), which is none", hint: "")
      }
      return .blob(bytes)
    case .stored, .boolean, .double, .float, .external, nil: return value
    }
  }
}

extension ExportFilter {
  /// Whether a row is taken. A value that cannot be compared, as a text with a number, makes its comparison false.
  ///
  /// - Throws: ``StreamsError`` for a value that cannot be read.
  package func takes(_ decoder: RecordDecoder, key: Int64, missing: (Int) -> Value) throws -> Bool {
    func value(_ position: Int) throws -> Value {
      position < decoder.columnCount ? try decoder.value(position) : missing(position)
    }
    if let since {
      let isReached = try dates.contains { position in
        switch try value(position) {
        // An export writes whole microseconds.
        case .real(let seconds): seconds >= since - 0.000_000_5
        case .integer(let seconds): Double(seconds) >= since
        case .null, .text, .blob: false
        }
      }
      guard isReached else { return false }
    }
    return try condition.map { try holds($0, key: key, value) } ?? true
  }

  private func holds(_ condition: Condition, key: Int64, _ value: (Int) throws -> Value) throws -> Bool {
    func evaluate(_ operand: Operand) throws -> ExpressionValue {
      switch operand {
      case .key: .value(.integer(key))
      case .column(let place): .value(try value(place.position))
      case .constant(let constant): constant
      }
    }
    switch condition {
    case .truth(let value): return value
    case .compound(.not, let parts): return try !parts.allSatisfy { try holds($0, key: key, value) }
    case .compound(.and, let parts): return try parts.allSatisfy { try holds($0, key: key, value) }
    case .compound(.or, let parts): return try parts.contains { try holds($0, key: key, value) }
    case .compare(let left, let operation, let right):
      let (left, right) = (try evaluate(left), try evaluate(right))
      do {
        return try Comparing.holds(operation.comparison, left: left, right: right, options: operation.options)
      } catch is ExpressionDamage { return false }
    case .matches(let left, let pattern):
      guard case .value(.text(let text)) = try evaluate(left) else { return false }
      return try pattern.matches(.text(text))
    }
  }
}
