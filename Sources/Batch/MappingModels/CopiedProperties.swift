import CoreDataModel

extension EntityMapping {
  /// Whether it says of the stored ones of these properties, and of no others, that they stay as they are.
  func isCopy(attributes: [AttributeDescription], relationships: [RelationshipDescription]) -> Bool {
    Self.copies(attributeMappings, attributes.lazy.filter { !$0.isTransient }.map(\.name))
      && Self.copies(relationshipMappings, relationships.lazy.filter { !$0.isTransient }.map(\.name))
  }

  private static func copies(_ mappings: [PropertyMapping], _ names: some Sequence<String>) -> Bool {
    mappings.allSatisfy { $0.valueExpression == nil } && mappings.lazy.map(\.name).elementsEqual(names)
  }
}
