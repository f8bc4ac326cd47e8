import CoreDataModel
import CoreDataStore
import MappingModels
import RunSupport
import Streams

/// The objects that rules work on: the source's row, what is gone through, and the mapping's own object.
struct RuleRow: RuleScope {
  /// An object that a rule made or found, and for which item.
  typealias Made = (item: Int64?, object: DestinationObject)

  let source: SourceObject
  var item: RuleItem?
  var previous: RuleItem?
  let object: DestinationObject
  let manager: StepObjects
  /// What rules with names have made for the row, by their places.
  var made: [[Made]] = []
  /// How many objects asked one another for values on the way here.
  var depth = 0

  init(source: SourceObject, object: DestinationObject, manager: StepObjects) {
    (self.source, self.object, self.manager) = (source, object, manager)
  }

  var keys: [Int64] { item.map { [source.key, $0.key] } ?? [source.key] }

  private func item(of origin: RuleOrigin) -> RuleItem? {
    switch origin {
    case .source: .object(source)
    case .item: item
    case .previous: previous
    }
  }

  /// The source object that a name means; nil if it means an element of an array, or nothing.
  func sourceObject(_ origin: RuleOrigin) -> SourceObject? {
    if case .object(let object)? = item(of: origin) { object } else { nil }
  }

  /// Evaluates an expression; what does not fit in it is an error of the row.
  private func evaluating<Result>(_ origins: [RuleOrigin], _ body: (ExpressionScope) throws -> Result) throws -> Result
  {
    var scope = ExpressionScope(source: source)
    if !origins.isEmpty { scope.bound = origins.map { item(of: $0)?.value ?? .null } }
    (scope.destination, scope.manager) = (object, manager)
    do { return try body(scope) } catch let damage as ExpressionDamage { throw failure("an expression \(damage)") }
  }

  func holds(_ condition: CompiledCondition) throws -> Bool {
    try evaluating(condition.origins) { try condition.predicate.holds($0) }
  }

  func evaluate(_ expression: CompiledExpression, _ origins: [RuleOrigin]) throws -> Value {
    try evaluating(origins) { try expression.evaluate($0).single() }
  }

  func value(_ attribute: StoredAttribute, _ origin: RuleOrigin) throws -> Value {
    try sourceObject(origin)?.value(attribute) ?? .null
  }

  /// What is gone through, in its order.
  func items(_ collection: RuleCollection) throws -> [RuleItem] {
    switch collection {
    case .objects(let name): return try source.objects(name).map { .object($0) }
    case .elements(let attribute, let name):
      do {
        return try ArrayElements.values(source.value(attribute), isExternal: attribute.isExternal).enumerated()
          .map { .element($1, place: Int64($0)) }
      } catch let damage as ArrayElements.Damage {
        throw failure("\(name) \(damage.description)", "Give such rows no elements, with when or a filter")
      }
    }
  }

  func fold(_ fold: CompiledFold) throws -> Value {
    let items = try items(fold.over)
    var row = self
    func value(_ item: RuleItem, after previous: RuleItem?) throws -> Value {
      (row.item, row.previous) = (item, previous)
      return try fold.value.evaluate(row)
    }
    switch fold.kind {
    case .first: return try items.first.map { try value($0, after: nil) } ?? .null
    case .last: return try items.last.map { try value($0, after: items.dropLast().last) } ?? .null
    case .sum, .join:
      let first = fold.usesPrevious ? 1 : 0
      let values = try items.indices.dropFirst(first).map { place in
        try value(items[place], after: place > 0 ? items[place - 1] : nil)
      }.filter { $0 != .null }
      guard case .join(let separator) = fold.kind else { return try RuleType.total(values, self) }
      let texts = values.compactMap { RuleType.text($0) }
      return texts.isEmpty ? .null : .text(texts.joined(separator: separator))
    }
  }

  func became(_ target: CompiledRuleTarget, attribute: String) throws -> Value {
    switch target {
    case .known(.item): return try sourceObject(.item).map { try computed(attribute, of: $0) } ?? .null
    case .known(.related(let name, let ofItem)):
      let owner = ofItem ? sourceObject(.item) : source
      return try owner?.objects(name).first.map { try computed(attribute, of: $0) } ?? .null
    case .made:
      guard let made = try target.objects(self).first else { return .null }
      return try made.storedValue(attribute)
    case .known, .found, .when, .one: return .null
    }
  }

  private func computed(_ attribute: String, of other: SourceObject) throws -> Value {
    guard depth < 100 else {
      throw failure("a value of a destination leads to another one more than 100 times", "Break the circle with if")
    }
    return try manager.value(attribute, ofDestinationOf: other, depth: depth + 1)
  }

  func failure(_ message: String, _ hint: String? = nil) -> BatchError {
    BatchError(.policyFailed, message, hint: hint, entity: source.entityName, key: source.key)
  }
}
