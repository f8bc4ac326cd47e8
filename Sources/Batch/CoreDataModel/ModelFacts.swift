import Synchronization

/// What was derived from a model: hashes, layouts, texts. Whoever derives a fact has a key of its own for it. Facts follow
/// from the model, so they never tell two models apart.
package final class ModelFacts: Sendable, Equatable {
  /// The name of a fact, and its type.
  package struct Key<Fact: Sendable>: Sendable {
    fileprivate let name: String

    /// A name that no other fact has.
    package init(_ name: String) { self.name = name }
  }

  private let known = Mutex<[String: any Sendable]>([:])

  package static func == (left: ModelFacts, right: ModelFacts) -> Bool { true }

  package init() {}

  /// The fact, made at most once by each thread that asks for it.
  package func value<Fact: Sendable>(_ key: Key<Fact>, make: () throws -> Fact) rethrows -> Fact {
    if let fact = known.withLock({ $0[key.name] }) as? Fact { return fact }
    let fact = try make()
    known.withLock { $0[key.name] = fact }
    return fact
  }
}
