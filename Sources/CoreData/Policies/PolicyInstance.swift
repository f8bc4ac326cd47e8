import CoreDataModel
import MappingModels
import Migrations
import Streams

/// The object of a class of policies that serves an entity mapping. Made by the first call: plans ask for policies that
/// never run.
final class PolicyInstance: @unchecked Sendable {
  // Sendable: the thread that transforms rows alone calls it.
  private let name: String
  private let functions: [String: PolicyFunction]
  private let make: () -> NSEntityMigrationPolicy
  private var policy: NSEntityMigrationPolicy?
  private var session: MigrationSession?
  private var mapping = NSEntityMapping(nil)

  init(_ name: String, functions: [String: PolicyFunction], make: @escaping () -> NSEntityMigrationPolicy) {
    (self.name, self.functions, self.make) = (name, functions, make)
  }

  /// The session and the object, which one step has.
  @inline(__always)
  private func enter(_ mapping: EntityMapping, _ engine: MigrationManager, isLate: Bool, begins: Bool = false)
    -> (session: MigrationSession, policy: NSEntityMigrationPolicy)
  {
    if let session, let policy, !session.hasEnded, session.engine.isSame(as: engine) {
      session.enter(self.mapping, isLate: isLate)
      return (session, policy)
    }
    return begin(mapping, engine, isLate: isLate, begins: begins)
  }

  private func begin(_ mapping: EntityMapping, _ engine: MigrationManager, isLate: Bool, begins: Bool)
    -> (session: MigrationSession, policy: NSEntityMigrationPolicy)
  {
    let (session, policy) = (MigrationSession.of(engine), make())
    (self.session, self.policy, self.mapping) = (session, policy, NSEntityMapping(mapping))
    session.enter(self.mapping, isLate: isLate)
    if !begins, Self.hasState(policy) { session.refuseLostState("what the policy \(name) keeps in its properties") }
    return (session, policy)
  }

  private static func hasState(_ policy: NSEntityMigrationPolicy) -> Bool {
    var mirror: Mirror? = Mirror(reflecting: policy)
    while let current = mirror, current.subjectType != NSEntityMigrationPolicy.self {
      if !current.children.isEmpty { return true }
      mirror = current.superclassMirror
    }
    return false
  }

  /// A call without an object.
  func call(
    _ mapping: EntityMapping, manager engine: MigrationManager, isLate: Bool, begins: Bool = false,
    _ body: (NSEntityMigrationPolicy, NSEntityMapping, NSMigrationManager) throws -> Void
  ) throws {
    let (session, policy) = enter(mapping, engine, isLate: isLate, begins: begins)
    try session.ending { try body(policy, self.mapping, session.manager) }
  }

  func create(_ source: SourceObject, in mapping: EntityMapping, manager engine: MigrationManager) throws {
    let (session, policy) = enter(mapping, engine, isLate: false)
    let window = session.begin(source)
    try session.ending {
      try policy.createDestinationInstances(forSource: window, in: self.mapping, manager: session.manager)
    }
  }

  func relate(_ destination: DestinationObject, in mapping: EntityMapping, manager engine: MigrationManager) throws {
    let (session, policy) = enter(mapping, engine, isLate: true)
    let window = session.lateWindow(destination)
    try session.ending {
      try policy.createRelationships(forDestination: window, in: self.mapping, manager: session.manager)
    }
  }

  /// Calls a method that a mapping model names by its selector, while an object is made. Throws ``BatchError``
  /// (`policyFailed`), and what the method throws.
  func value(ofFunction selector: String, _ arguments: [FunctionArgument], manager engine: MigrationManager) throws
    -> Value
  {
    guard let function = functions[selector], let session, let policy else {
      let known = functions.keys.sorted().joined(separator: ", ")
      throw engine.failure(
        "the policy \(name) has no method \(selector)",
        hint: known.isEmpty ? "It has none that mapping models can call" : "It has \(known)")
    }
    let values = try PolicyArguments(arguments.map { try session.object($0) }, of: selector, engine)
    let result = try function(policy, values)
    guard let value = ValueBridge.any(result) else {
      throw engine.failure(
        "\(selector) of the policy \(name) gives a \(result.map { "\(type(of: $0))" } ?? "nil"), which no attribute holds"
      )
    }
    return value
  }
}
