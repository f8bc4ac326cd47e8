import CoreDataModel
import RunSupport
import Streams

/// The predicate of a fetch: what has to hold, and a value that one attribute has to have, if it says so.
struct Condition {
  private var evaluators: [PredicateEvaluator] = []
  private var blocks: [NSPredicate] = []
  /// An attribute, and the value that it has in all objects for which the predicate holds.
  private(set) var equality: (name: String, value: Value)?
  /// Whether nothing else has to hold.
  private(set) var isEqualityAlone = false
  /// Makes the error of a predicate that cannot be read.
  private(set) var problem: ((MigrationSession) -> BatchError)?

  init(_ predicate: NSPredicate?) {
    guard let predicate else { return }
    guard let format = FormatPredicate.Probe.ask(predicate) else {
      blocks = [predicate]
      return
    }
    do {
      let evaluator = try PredicateEvaluator(format)
      evaluators.append(evaluator)
      let parts = Self.parts(try format.parsed.get())
      for part in parts where equality == nil { equality = Self.equality(part, evaluator) }
      isEqualityAlone = equality != nil && parts.count == 1
    } catch {
      problem = { $0.engine.failure("the predicate \(format.format) \(error)") }
    }
  }

  func holds(_ object: NSManagedObject) throws -> Bool {
    try evaluators.allSatisfy { try $0.holds(object) } && blocks.allSatisfy { $0.evaluate(with: object) }
  }

  private static func parts(_ predicate: CoreDataModel.Predicate) -> [CoreDataModel.Predicate] {
    guard case .compound(.and, let parts) = predicate else { return [predicate] }
    return parts.flatMap(Self.parts)
  }

  private static func equality(_ predicate: CoreDataModel.Predicate, _ evaluator: PredicateEvaluator) -> (
    name: String, value: Value
  )? {
    guard case .compare(let left, let operation, let right) = predicate, operation.comparison == .equal,
      operation.modifier == .direct, operation.options == 0
    else { return nil }
    for (key, other) in [(left, right), (right, left)] {
      guard case .keyPath(.evaluatedObject, let path) = key, path.count == 1, !path[0].hasPrefix("@") else { continue }
      switch other {
      case .constant, .decimal, .date, .variable: break
      default: continue
      }
      if case .value(let value)? = try? evaluator.value(other, .value(.null)) { return (path[0], value) }
    }
    return nil
  }
}
