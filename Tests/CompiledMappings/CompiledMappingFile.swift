package import Codecs
package import CoreDataModel
import Foundation
package import MappingModels

/// Writes mapping models as Xcode compiles them (D.5): what the author left to the default is written out.
package struct CompiledMappingFile {
  package typealias Expression = CoreDataModel.Expression
  package typealias Fields = [String: PropertyListValue]
  /// Changes the fields of an object before it is written: how damaged archives are made. It may use the builder.
  package typealias Edit = (_ className: String, _ fields: inout Fields, _ builder: inout ArchiveBuilder) -> Void

  /// Leads from a relationship of a source entity to its destination entity.
  package var source: ManagedObjectModel?
  package var edit: Edit = { _, _, _ in }
  private var builder = ArchiveBuilder()

  package init(source: ManagedObjectModel? = nil, edit: @escaping Edit = { _, _, _ in }) {
    (self.source, self.edit) = (source, edit)
  }

  package func bytes(_ model: MappingModel) -> [UInt8] {
    var writer = self
    let mappings = model.entityMappings.map { writer.entityMapping($0, in: model) }
    let names = zip(model.entityMappings, mappings).map { (key: $0.name, value: $1) }
    let root = writer.object(
      "NSMappingModel",
      [
        "NSEntityMappings": writer.builder.array(mappings),
        "NSEntityMappingsByName": writer.builder.dictionary(names, isMutable: true),
      ])
    return writer.builder.bytes(root: root)
  }

  package func write(_ model: MappingModel, to path: String) throws {
    try Data(bytes(model)).write(to: URL(fileURLWithPath: path))
  }

  private mutating func object(_ name: String, _ fields: Fields) -> PropertyListValue {
    var fields = fields
    edit(name, &fields, &builder)
    return builder.object([name, "NSObject"], fields)
  }

  private static func kind(of mapping: EntityMapping) -> Int64 {
    switch (mapping.sourceEntity, mapping.destinationEntity) {
    case (nil, nil): 0
    case (nil, _): 2
    case (_, nil): 3
    default: mapping.policyClassName == nil ? 5 : 1
    }
  }

  private mutating func entityMapping(_ mapping: EntityMapping, in model: MappingModel) -> PropertyListValue {
    func hash(_ entity: String?, _ hashes: [String: [UInt8]]) -> PropertyListValue {
      entity.flatMap { hashes[$0] }.map { builder.scalar(.data($0)) } ?? ArchiveBuilder.null
    }
    let info = mapping.userInfo.sorted { $0.key < $1.key }.map { (key: $0.key, value: builder.text($0.value)) }
    let attributes = mapping.attributeMappings.map { property in
      (property.name, property.valueExpression ?? (mapping.sourceEntity == nil ? nil : Self.same(property.name)))
    }
    let relationships = mapping.relationshipMappings.map { property in
      let target = target(of: property.name, mapping, in: model)
      let standard = target.map { Expression.destinationInstances(ofMapping: $0, source: Self.same(property.name)) }
      return (property.name, property.valueExpression ?? standard)
    }
    return object(
      "NSEntityMapping",
      [
        "NSMappingName": builder.text(mapping.name), "NSMappingType": .integer(Self.kind(of: mapping)),
        "NSSourceEntityName": builder.text(mapping.sourceEntity),
        "NSSourceEntityVersionHash": hash(mapping.sourceEntity, model.sourceHashes),
        "NSSourceExpression": request(mapping),
        "NSDestinationEntityName": builder.text(mapping.destinationEntity),
        "NSDestinationEntityVersionHash": hash(mapping.destinationEntity, model.destinationHashes),
        "NSEntityMigrationPolicyClassName": builder.text(mapping.policyClassName),
        "NSUserInfo": info.isEmpty ? ArchiveBuilder.null : builder.dictionary(info),
        "NSAttributeMappings": list(attributes), "NSRelationshipMappings": list(relationships),
      ])
  }

  /// The mapping whose objects a relationship gets that the author left to the default.
  private func target(of relationship: String, _ mapping: EntityMapping, in model: MappingModel) -> String? {
    let found = mapping.sourceEntity.flatMap { entity in
      source?.relationships(of: entity).first { $0.name == relationship }?.destinationEntity
    }
    return found.flatMap { entity in model.entityMappings.first { $0.sourceEntity == entity }?.name }
  }

  private static func same(_ name: String) -> Expression {
    .keyPath(operand: .variable("source"), path: [name])
  }

  private mutating func request(_ mapping: EntityMapping) -> PropertyListValue {
    guard let entity = mapping.sourceEntity, mapping.destinationEntity != nil else { return ArchiveBuilder.null }
    return builder.expression(
      .fetch(
        request: .function(
          operand: .variable("manager"), name: "fetchRequestForSourceEntityNamed:predicateString:",
          arguments: [.constant(.text(entity)), .constant(.text(mapping.filterPredicate ?? "TRUEPREDICATE"))]),
        context: .keyPath(operand: .variable("manager"), path: ["sourceContext"]), isCountOnly: false))
  }

  private mutating func list(_ properties: [(name: String, expression: Expression?)]) -> PropertyListValue {
    var members: [PropertyListValue] = []
    for property in properties {
      let expression = property.expression.map { builder.expression($0) } ?? ArchiveBuilder.null
      members.append(
        object(
          "NSPropertyMapping",
          [
            "NSDestinationPropertyName": builder.text(property.name), "NSValueExpression": expression,
            "NSPropertyTransforms": ArchiveBuilder.null, "NSUserInfo": ArchiveBuilder.null,
          ]))
    }
    return builder.array(members)
  }
}
