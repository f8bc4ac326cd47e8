/// Asks for objects of an entity. `ResultType` is NSManagedObject in a migration, or any of what its result type gives.
open class NSFetchRequest<ResultType>: NSObject {
  /// The entity's name.
  open var entityName: String?
  /// The entity; its name counts.
  open var entity: NSEntityDescription? { didSet { entityName = entity?.name ?? entityName } }
  /// Which objects; nil for all.
  open var predicate: NSPredicate?
  /// Their order; else they come by key.
  open var sortDescriptors: [NSSortDescriptor]?
  /// The most objects; 0 for all.
  open var fetchLimit = 0
  /// How many of the first are left out.
  open var fetchOffset = 0
  /// Whether objects of sub-entities are meant.
  open var includesSubentities = true
  /// What is given.
  open var resultType = NSFetchRequestResultType.managedObjectResultType
  /// Which values a dictionary has: names of properties; nil for all.
  open var propertiesToFetch: [Any]?
  /// Changes nothing.
  open var fetchBatchSize = 0
  /// Changes nothing: what a call has made is always found.
  open var includesPendingChanges = true
  /// Changes nothing.
  open var includesPropertyValues = true
  /// Changes nothing.
  open var returnsObjectsAsFaults = true
  /// Changes nothing.
  open var shouldRefreshRefetchedObjects = false
  /// Changes nothing.
  open var relationshipKeyPathsForPrefetching: [String]?

  /// Asks for nothing yet.
  public override init() {}

  /// Asks for all objects of an entity.
  public convenience init(entityName: String) {
    self.init()
    self.entityName = entityName
  }

  var question: FetchQuestion {
    FetchQuestion(
      entity: entityName ?? "", predicate: predicate, order: sortDescriptors ?? [], limit: fetchLimit,
      offset: fetchOffset, includesSubentities: includesSubentities)
  }

  func keys(of object: NSManagedObject) -> [String] {
    let names = propertiesToFetch?.compactMap { $0 as? String ?? ($0 as? NSPropertyDescription)?.name }
    return names ?? object.kind.attributeNames
  }
}
