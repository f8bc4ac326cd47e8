import MappingModels

/// How the objects of one source entity become objects of one destination entity. Of it, only the expressions of
/// attributes can be set, by a call for its object.
open class NSEntityMapping: NSObject {
  let mapping: EntityMapping
  /// The step at work; nil outside of one.
  weak var session: MigrationSession?
  /// What the call at work has set of attributes.
  private(set) var overrides: [String: NSExpression] = [:]

  init(_ mapping: EntityMapping?) {
    self.mapping = mapping ?? EntityMapping(sourceEntity: nil, destinationEntity: nil)
    name = self.mapping.name
  }

  /// The name by which instances are found.
  public let name: String!
  /// The source entity; nil for none.
  public var sourceEntityName: String? { mapping.sourceEntity }
  /// The destination entity; nil for none.
  public var destinationEntityName: String? { mapping.destinationEntity }
  /// The class of the policy, as the mapping model names it.
  public var entityMigrationPolicyClassName: String? { mapping.policyClassName }
  /// Entries of the mapping model; they are texts. Nil for none.
  public private(set) lazy var userInfo: [AnyHashable: Any]? = mapping.userInfo.isEmpty ? nil : mapping.userInfo
  /// What the mapping model says of attributes; nil for nothing.
  public private(set) lazy var attributeMappings: [NSPropertyMapping]? = properties(mapping.attributeMappings)
  /// What the mapping model says of relationships; nil for nothing.
  public private(set) lazy var relationshipMappings: [NSPropertyMapping]? = properties(mapping.relationshipMappings)

  private func properties(_ mappings: [PropertyMapping]) -> [NSPropertyMapping] {
    mappings.map { NSPropertyMapping($0, of: self) }
  }

  /// Takes what a policy sets; what cannot be taken fails the call at work.
  func override(_ property: String, by expression: NSExpression) {
    let instead = "Set the value of the object: dInstance.setValue(value, forKey: \"\(property)\") after super"
    guard mapping.attributeMappings.contains(where: { $0.name == property }) else {
      session?.fail("the expression of the relationship \(property) cannot be set by a policy", hint: instead)
      return
    }
    guard expression.constant != nil else {
      session?.fail("the expression of \(property) can be set to a constant alone", hint: instead)
      return
    }
    guard session?.current?.row != nil, session?.isLate == false else {
      session?.fail(
        "the expression of \(property) is set where no object is made, and would be lost with an interruption",
        hint: "Set it in createDestinationInstances, before super")
      return
    }
    overrides[property] = expression
  }

  /// What was set counts for one call.
  func forgetOverrides() { if !overrides.isEmpty { overrides = [:] } }
}
