import CoreDataModel

/// An attribute of an entity.
open class NSAttributeDescription: NSPropertyDescription {
  private let attribute: AttributeDescription

  init(_ attribute: AttributeDescription) {
    self.attribute = attribute
    super.init(
      name: attribute.name, isOptional: attribute.isOptional, isTransient: attribute.isTransient,
      userInfo: attribute.userInfo)
  }

  /// Its type.
  public var attributeType: NSAttributeType {
    NSAttributeType(rawValue: UInt(attribute.type.rawValue)) ?? .undefinedAttributeType
  }
  /// What a new object has; nil for nothing.
  public var defaultValue: Any? { attribute.defaultValue.flatMap { try? ValueBridge.object($0, attribute.type) } }
}
