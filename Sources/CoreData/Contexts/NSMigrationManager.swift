import Migrations

/// The running step, as a policy sees it. There is one for each step, made by the engine.
open class NSMigrationManager: NSObject {
  // A circle, which MigrationSession.end() breaks.
  private let session: MigrationSession
  private var information: [AnyHashable: Any]?
  private var isInformed = false

  init(_ session: MigrationSession) { self.session = session }

  /// The objects of the old version.
  public var sourceContext: NSManagedObjectContext { session.sourceContext }
  /// The objects of the new version.
  public var destinationContext: NSManagedObjectContext { session.destinationContext }
  /// The mapping at work.
  public var currentEntityMapping: NSEntityMapping { session.work ?? NSEntityMapping(nil) }

  /// What policies keep for each other. It is lost with an interruption: to read it afterwards ends the migration with
  /// an error.
  open var userInfo: [AnyHashable: Any]? {
    get {
      if !isInformed { session.refuseLostState("manager.userInfo") }
      return information
    }
    set { (information, isInformed) = (newValue, true) }
  }

  /// What an entity mapping makes of source objects: its own objects, in the order of theirs.
  open func destinationInstances(forEntityMappingName name: String, sourceInstances: [NSManagedObject]?)
    -> [NSManagedObject]
  {
    guard let sourceInstances else {
      session.fail(
        "all destination instances of \(name) are asked for, which may be too many for memory",
        hint: "Name the source instances")
      return []
    }
    if sourceInstances.count == 1, sourceInstances[0] === session.current, name == session.work?.name,
      !session.isLate
    {
      return session.ownPrimary().map { [$0] } ?? []
    }
    return session.attempt {
      let rows = try sourceInstances.compactMap { try session.row(of: $0) }
      return try session.engine.destinationInstances(forEntityMappingNamed: name, sourceInstances: rows)
        .map { session.window($0) }
    } ?? []
  }

  /// What became of the objects that a relationship of source objects leads to.
  open func destinationInstances(forSourceRelationshipNamed name: String, sourceInstances: [NSManagedObject])
    -> [NSManagedObject]
  {
    session.attempt {
      let rows = try sourceInstances.compactMap { try session.row(of: $0) }
      return try session.engine.destinationInstances(forSourceRelationshipNamed: name, sourceInstances: rows)
        .map { session.window($0) }
    } ?? []
  }

  /// The source objects of which an entity mapping made destination objects.
  open func sourceInstances(forEntityMappingName name: String, destinationInstances: [NSManagedObject]?)
    -> [NSManagedObject]
  {
    session.attempt {
      try (destinationInstances ?? []).compactMap { object in
        guard let target = session.target(of: object) else { return nil }
        return try session.engine.sourceInstance(forEntityMappingNamed: name, destination: target)
          .map { session.window($0) }
      }
    } ?? []
  }

  /// Makes an object of the destination the one that stands for a source object: for those who do not call `super`.
  open func associate(
    sourceInstance: NSManagedObject, withDestinationInstance object: NSManagedObject, for mapping: NSEntityMapping
  ) {
    session.attempt { try session.associate(sourceInstance, with: object, in: mapping.name) }
  }

  /// The source entity of a mapping; nil for none.
  open func sourceEntity(for mapping: NSEntityMapping) -> NSEntityDescription? {
    mapping.sourceEntityName.flatMap { NSEntityDescription.entity(forEntityName: $0, in: sourceContext) }
  }

  /// The destination entity of a mapping; nil for none.
  open func destinationEntity(for mapping: NSEntityMapping) -> NSEntityDescription? {
    mapping.destinationEntityName.flatMap { NSEntityDescription.entity(forEntityName: $0, in: destinationContext) }
  }

  /// Ends the migration with an error when the policy's call returns.
  open func cancelMigrationWithError(_ error: any Error) { session.fail(error) }
}
