import CoreDataModel

/// A look-up of destination objects by the value of one attribute, as a policy declares it.
///
/// The engine fills it while objects of the entity are written, whoever writes them, keeps it on disk within the memory
/// budget, and carries it through interruptions. A mapping model whose policy declares a look-up runs after those with
/// entity mappings that lead to that entity; where only policies make its objects, an Add mapping says so.
public struct Lookup: Sendable, Hashable {
  /// Which object a look-up gives when several have the same value.
  public enum Choice: Sendable, Hashable {
    /// The one that was written first.
    case first
    /// The one that was written last; within one table that is key order.
    case last
  }
  /// The destination entity; its sub-entities are found too.
  public let entity: String
  /// The attribute whose value is looked up.
  public let attribute: String
  /// What to do with equal values.
  public let choice: Choice

  /// Makes a look-up.
  public init(entity: String, attribute: String, choice: Choice = .first) {
    self.entity = entity
    self.attribute = attribute
    self.choice = choice
  }

  /// A look-up that is left out where the model has no such attribute, and that knows of values that several objects
  /// have.
  package init(wish entity: String, by attribute: String) {
    self.init(entity: entity, attribute: attribute)
    isWish = true
  }

  /// Whether it is one of those.
  private(set) package var isWish = false

  /// Whether a model has what it looks for.
  func fits(_ model: ManagedObjectModel) -> Bool {
    model.attribute(attribute, of: entity).map { !$0.isTransient && !$0.allowsExternalBinaryDataStorage } ?? false
  }
}
