import CoreDataModel

/// An entity of the source or the destination of a step, as Core Data describes it; it cannot be changed.
open class NSEntityDescription: NSObject {
  let kind: ManagedEntity
  let session: MigrationSession

  init(_ kind: ManagedEntity, _ session: MigrationSession) { (self.kind, self.session) = (kind, session) }

  /// The name.
  public var name: String? { kind.name }
  /// Whether it has no objects of its own.
  public var isAbstract: Bool { kind.model.entity(kind.name)?.isAbstract ?? false }
  /// The class that the model names for its objects.
  public var managedObjectClassName: String! {
    kind.model.entity(kind.name)?.managedObjectClassName ?? "NSManagedObject"
  }
  /// Free entries of the model's author.
  public var userInfo: [AnyHashable: Any]? { kind.model.entity(kind.name)?.userInfo }
  /// All properties by name, inherited ones included.
  public var propertiesByName: [String: NSPropertyDescription] {
    (attributesByName as [String: NSPropertyDescription]).merging(relationshipsByName) { first, _ in first }
  }
  /// All attributes by name, inherited ones included.
  public var attributesByName: [String: NSAttributeDescription] {
    Dictionary(
      kind.model.attributes(of: kind.name).map { ($0.name, NSAttributeDescription($0)) },
      uniquingKeysWith: { first, _ in first })
  }
  /// All relationships by name, inherited ones included.
  public var relationshipsByName: [String: NSRelationshipDescription] {
    Dictionary(
      kind.model.relationships(of: kind.name).map { ($0.name, NSRelationshipDescription($0)) },
      uniquingKeysWith: { first, _ in first })
  }

  /// Whether it is that entity, or a sub-entity of it.
  public func isKindOf(entity other: NSEntityDescription) -> Bool {
    kind.isKind(of: other.kind)
  }

  /// The entity of a name in the model of a context; nil if there is none.
  public class func entity(forEntityName name: String, in context: NSManagedObjectContext) -> NSEntityDescription? {
    context.session.known(name, context.side)?.description(in: context.session)
  }

  /// Makes an object of an entity in the destination.
  ///
  /// An entity that is not there, one without objects of its own, and the context of the source end the migration with
  /// an error when the policy's call returns.
  @discardableResult
  public class func insertNewObject(forEntityName name: String, into context: NSManagedObjectContext)
    -> NSManagedObject
  {
    let kind = context.session.entity(name, context.side)
    return NSManagedObject(entity: kind.description(in: context.session), insertInto: context)
  }

  /// Two of one name and side are equal.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSEntityDescription else { return false }
    return other.kind === kind
  }

  /// Goes with ``isEqual(_:)``.
  open override var hash: Int { kind.name.hashValue }
}
