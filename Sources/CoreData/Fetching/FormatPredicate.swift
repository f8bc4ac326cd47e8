import CoreDataModel

/// A predicate in Apple's format that Foundation's class holds: a block tells it to a probe.
final class FormatPredicate {
  /// Asks a predicate for its parts.
  final class Probe {
    fileprivate(set) var found: FormatPredicate?

    /// The parts of a predicate; nil for one that is a block of the program's.
    static func ask(_ predicate: NSPredicate) -> FormatPredicate? {
      guard !(predicate is NSCompoundPredicate) else { return nil }
      let probe = Probe()
      _ = predicate.evaluate(with: probe)
      return probe.found
    }
  }

  let format: String
  let arguments: [Any?]
  let parsed: Result<CoreDataModel.Predicate, any Error>

  init(_ format: String, _ arguments: [Any?]) {
    (self.format, self.arguments) = (format, arguments)
    parsed = Result { try PredicateParser.predicate(PredicateTemplate.filled(format, arguments), isStrict: true) }
  }

  func holds(_ object: Any?) -> Bool {
    if let probe = object as? Probe {
      probe.found = self
      return false
    }
    let session = (object as? NSManagedObject)?.session
    do { return try PredicateEvaluator(self).holds(object) } catch {
      session?.fail("the predicate \(format) \(error)", of: object as? NSManagedObject)
      return false
    }
  }
}

extension NSPredicate {
  /// Reads a predicate in Apple's format: `%K` stands for a key, `%@`, `%d` and the like for values.
  ///
  /// What cannot be read ends the migration when it is used.
  public convenience init(format: String, _ arguments: Any?...) {
    self.init(format: format, argumentArray: arguments.map { $0 ?? NSNull() })
  }

  /// The same with the arguments in an array.
  public convenience init(format: String, argumentArray: [Any]?) {
    let predicate = FormatPredicate(format, argumentArray ?? [])
    self.init(block: { object, _ in predicate.holds(object) })
  }
}
