import Synchronization

/// What was derived from a model: hashes, layouts, texts. Whoever derives a fact has a key of its own for it.
package final class ModelFacts: Sendable {
  /// The name of a fact, and its type.
  package struct Key<Fact: Sendable>: Sendable {
    fileprivate let name: String

    /// A name that no other fact has.
    package init(_ name: String) { self.name = name }
  }

  /// Which state of a model the facts are of: models with one are equal.
  final class Subject: Sendable {}

  let subject: Subject
  private let known = Mutex<[String: any Sendable]>([:])

  init() { subject = Subject() }

  /// Facts of the same model, known apart: a fact that holds its model must not hold itself.
  init(apartFrom other: ModelFacts) { subject = other.subject }

  func value<Fact: Sendable>(_ key: Key<Fact>, make: () throws -> Fact) rethrows -> Fact {
    if let fact = known.withLock({ $0[key.name] }) as? Fact { return fact }
    let fact = try make()
    known.withLock { $0[key.name] = fact }
    return fact
  }
}
