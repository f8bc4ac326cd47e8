/// The objects of one side of a step. There is no other: a context cannot be made.
open class NSManagedObjectContext: NSObject {
  // A circle, which MigrationSession.end() breaks.
  let session: MigrationSession
  let side: ManagedEntity.Side

  init(_ session: MigrationSession, _ side: ManagedEntity.Side) { (self.session, self.side) = (session, side) }

  /// The objects that a request asks for.
  ///
  /// - Throws: an error that says what to write instead, for what cannot be found within the memory of the run.
  open func fetch<ResultType>(_ request: NSFetchRequest<ResultType>) throws -> [ResultType] {
    let objects = try session.finder.find(request.question, side)
    let results: [Any] =
      switch request.resultType {
      case .managedObjectResultType: objects
      case .managedObjectIDResultType: objects.map(\.objectID)
      case .dictionaryResultType:
        objects.map { NSDictionary(dictionary: $0.dictionaryWithValues(forKeys: request.keys(of: $0))) }
      case .countResultType: [NSNumber(value: objects.count)]
      }
    return try results.map { result in
      if let found = result as? ResultType { return found }
      throw session.engine.failure(
        "a fetch gives objects of the class \(type(of: result)), not \(ResultType.self)",
        hint: "Write NSFetchRequest<NSManagedObject>: objects of a migration have no class of their own")
    }
  }

  /// How many objects a request asks for.
  ///
  /// - Throws: as ``fetch(_:)``.
  open func count<ResultType>(for request: NSFetchRequest<ResultType>) throws -> Int {
    try session.finder.find(request.question, side).count
  }

  /// The objects that are in memory. Of the destination, what policies have made; where that is too much for the memory
  /// of the run, the migration ends with an error. Of the source, none.
  open var registeredObjects: Set<NSManagedObject> {
    guard side == .destination else { return [] }
    guard session.remembered.isWhole else {
      session.fail(
        "registeredObjects would hold more objects than the memory of the run allows",
        hint: "Look for them with an NSFetchRequest whose predicate compares one attribute, or give more with --memory")
      return []
    }
    return Set(session.remembered.all + session.open)
  }

  /// The same as ``registeredObjects``: all of them are new.
  open var insertedObjects: Set<NSManagedObject> { registeredObjects }
  /// None: what is written can be changed, and is not kept.
  open var updatedObjects: Set<NSManagedObject> { [] }
  /// The objects that the policy's call at work has deleted.
  open var deletedObjects: Set<NSManagedObject> { side == .destination ? Set(session.deleted) : [] }
  /// Whether it is the context of the destination.
  open var hasChanges: Bool { side == .destination }

  /// The object that is known by an identifier.
  open func object(with identifier: NSManagedObjectID) -> NSManagedObject {
    session.window(identifier)
  }

  /// The object that is known by an identifier.
  ///
  /// - Throws: nothing by itself; a row of the source that is not there gives an object without values.
  open func existingObject(with identifier: NSManagedObjectID) throws -> NSManagedObject { object(with: identifier) }

  /// Takes a new object; it is there already.
  open func insert(_ object: NSManagedObject) {}

  /// Takes back an object that the policy's call at work has made, before anything is linked with it. For any other
  /// object the migration ends with an error that says what to write instead.
  open func delete(_ object: NSManagedObject) { session.delete(object) }

  /// Does nothing: the engine writes what a call has made when it returns.
  ///
  /// - Throws: nothing.
  open func save() throws {}
  /// Does nothing: memory is bounded without it.
  open func reset() {}
  /// Does nothing: memory is bounded without it.
  open func refresh(_ object: NSManagedObject, mergeChanges: Bool) {}
  /// Does nothing: memory is bounded without it.
  open func refreshAllObjects() {}
  /// Does nothing: relationships are linked at once.
  open func processPendingChanges() {}
  /// Calls a closure at once: a step has one thread.
  open func performAndWait<R>(_ body: () throws -> R) rethrows -> R { try body() }
  /// Calls a closure at once: a step has one thread.
  open func perform(_ body: @escaping () -> Void) { body() }
}
