import CoreDataModel
import MappingModels
import Migrations
import RunSupport

/// The state of one step that its policies share: the objects of the call at work, those that are remembered, and the
/// first error of what cannot throw.
final class MigrationSession {
  /// Ends a session with the step: its objects hold on to it.
  private final class Holder {
    let session: MigrationSession
    init(_ session: MigrationSession) { self.session = session }
    deinit { session.end() }
  }

  let engine: MigrationManager
  /// Entities of both sides by Z_ENT; the first element is unused.
  let sources: [ManagedEntity?]
  let destinations: [ManagedEntity?]
  private var byName: [ManagedEntity.Side: [String: ManagedEntity]] = [:]
  let remembered: RememberedObjects
  private(set) lazy var manager = NSMigrationManager(self)
  private(set) lazy var sourceContext = NSManagedObjectContext(self, .source)
  private(set) lazy var destinationContext = NSManagedObjectContext(self, .destination)
  private(set) lazy var storeUUID = engine.graph.reader.metadata.uuid
  private(set) lazy var finder = ObjectFinder(self)

  /// The entity mapping at work.
  private(set) var work: NSEntityMapping?
  var mapping: EntityMapping? { work?.mapping }
  /// Whether all objects of the step exist.
  var isLate = false
  /// The source object of the call at work.
  var current: NSManagedObject?
  /// What stands for it in the destination; nil while it was not made or not asked for.
  var primary: NSManagedObject?
  var primaryTarget: DestinationObject?
  private var late: NSManagedObject?
  /// Further objects of the call at work, in the order in which they were made.
  var made: [NSManagedObject] = []
  /// Objects that the call at work has linked.
  var linkedNow: Set<ObjectIdentifier> = []
  /// Objects that the call at work has deleted.
  var deleted: [NSManagedObject] = []
  /// The first error of the call at work that could not be thrown.
  private var failure: (any Error)?
  private(set) var hasEnded = false

  init(_ engine: MigrationManager) {
    self.engine = engine
    sources = engine.graph.byNumber.map { $0.map { ManagedEntity($0, engine.sourceModel) } }
    destinations = engine.destinationEntities.map { $0.map { ManagedEntity($0, engine.model) } }
    remembered = RememberedObjects(bytes: engine.budget.rowLimit)
    byName[.source] = Self.named(sources)
    byName[.destination] = Self.named(destinations)
  }

  private static func named(_ kinds: [ManagedEntity?]) -> [String: ManagedEntity] {
    Dictionary(kinds.compactMap { $0.map { ($0.name, $0) } }, uniquingKeysWith: { first, _ in first })
  }

  /// The session of a running step.
  static func of(_ engine: MigrationManager) -> MigrationSession {
    if let holder = engine.attachment as? Holder { return holder.session }
    let session = MigrationSession(engine)
    engine.attachment = Holder(session)
    return session
  }

  private func end() {
    hasEnded = true
    (current, late, primary, primaryTarget, made, deleted) = (nil, nil, nil, nil, [], [])
    remembered.removeAll()
    for kind in sources + destinations { kind?.forget() }
    (byName, failure) = ([:], nil)
  }

  /// The entity of a name on one side; nil if its model has none.
  func known(_ name: String, _ side: ManagedEntity.Side) -> ManagedEntity? { byName[side]?[name] }

  /// The same; where there is none the call fails, and objects of what is given hold nothing.
  func entity(_ name: String, _ side: ManagedEntity.Side) -> ManagedEntity {
    if let found = known(name, side) { return found }
    let (word, model) = side == .source ? ("source", engine.sourceModel) : ("destination", engine.model)
    let near = NearName.question(name, in: byName[side].map { Array($0.keys) } ?? [])
    fail("the \(word) model has no entity \(name)\(near)", hint: "Its version is \(model.name)")
    return ManagedEntity(missing: name, side: side, model: model)
  }

  // MARK: Errors

  /// Ends the call at work with an error, once it returns.
  func fail(_ error: any Error) {
    guard failure == nil else { return }
    failure = error
    UntoldFailure.text = "\(error)"
  }

  /// Ends the call at work with an error, once it returns.
  func fail(_ message: String, hint: String? = nil, of object: NSManagedObject? = nil) {
    fail(
      engine.failure(message, hint: hint, entity: object?.kind.name, key: object.flatMap { $0.key == 0 ? nil : $0.key })
    )
  }

  /// What a closure gives; where it throws the call fails, and there is nothing.
  func attempt<R>(_ body: () throws -> R?) -> R? {
    do { return try body() } catch {
      fail(error)
      return nil
    }
  }

  /// The call fails where an earlier process has begun the step: what it kept in memory is gone.
  func refuseLostState(_ what: String) {
    guard engine.isResumed else { return }
    fail(
      "\(what) was lost when the migration was interrupted",
      hint: "Begin again: put the run away with godwit clean --all, then migrate")
  }

  // MARK: Calls

  /// Begins a call of a policy.
  @inline(__always)
  func enter(_ mapping: NSEntityMapping, isLate: Bool) {
    if work !== mapping {
      work = mapping
      mapping.session = self
    }
    self.isLate = isLate
  }

  /// Makes the window on the source object of a call.
  @inline(__always)
  func begin(_ source: SourceObject) -> NSManagedObject {
    if isKnownUniquelyReferenced(&current), let current, current.kind.number == source.entity.number {
      (current.key, current.row) = (source.key, source)
      return current
    }
    let window = sourceWindow(source.entity.number, source.key)
    window.row = source
    current = window
    return window
  }

  /// Makes the window on a written object of a call; one that nobody else refers to is used again.
  func lateWindow(_ destination: DestinationObject) -> NSManagedObject {
    let (number, key) = (destination.entity.number, destination.key)
    if let kind = destinations[number], let known = remembered.object(kind, key) { return known }
    if isKnownUniquelyReferenced(&late), let late, late.kind.number == number {
      late.key = key
      return late
    }
    let window = window(number, key: key)
    late = window
    return window
  }

  /// Runs a call, and ends it. Throws what it threw, or what it met before.
  @inline(__always)
  func ending(_ body: () throws -> Void) throws {
    do { try body() } catch {
      let met = failure ?? error
      discard()
      throw met
    }
    try leave()
  }

  /// Ends a call: throws what it met, gives what it made its keys, and remembers what can be remembered.
  func leave() throws {
    try throwFailure()
    try settleAll()
    try throwFailure()
    if primaryTarget != nil { try closePrimary() }
    for object in made { try close(object) }
    if !made.isEmpty { made.removeAll(keepingCapacity: true) }
    forgetCall()
  }

  /// What a call has noted for itself.
  private func forgetCall() {
    if !linkedNow.isEmpty { linkedNow.removeAll(keepingCapacity: true) }
    if !deleted.isEmpty { deleted.removeAll() }
    work?.forgetOverrides()
    current?.row = nil
  }

  private func throwFailure() throws {
    guard let failure else { return }
    discard()
    throw failure
  }

  /// Forgets what a call made that has failed.
  func discard() {
    if failure != nil { UntoldFailure.text = nil }
    failure = nil
    (primary, primaryTarget) = (nil, nil)
    made.removeAll()
    forgetCall()
  }
}
