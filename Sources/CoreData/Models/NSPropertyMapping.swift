import MappingModels

/// Where a property of a destination object comes from. The engine evaluates the mapping model's expression when
/// `super.createDestinationInstances` is called, then takes what the policy has set.
open class NSPropertyMapping: NSObject {
  /// The destination's property.
  public let name: String?
  private let mapping: PropertyMapping
  private weak var owner: NSEntityMapping?

  init(_ mapping: PropertyMapping, of owner: NSEntityMapping) {
    (self.mapping, self.owner, name) = (mapping, owner, mapping.name)
  }

  /// The expression of the mapping model, or what the policy has set. A constant that is set in
  /// `createDestinationInstances` counts for the object of that call; anything else ends the migration with an error
  /// that says what to write instead.
  open var valueExpression: NSExpression? {
    get { owner?.overrides[mapping.name] ?? NSExpression(mapping.valueExpression, of: mapping.name) }
    set { owner?.override(mapping.name, by: newValue ?? NSExpression(forConstantValue: nil)) }
  }
}
