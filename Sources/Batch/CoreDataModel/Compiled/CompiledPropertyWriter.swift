import Codecs
import Streams

/// Properties as model caches hold them (C.4): flags that are off, and a modifier, predicates and user info that are
/// missing, have no key.
extension CompiledModelWriter {
  private typealias Fields = [String: PropertyListValue]

  private mutating func common(
    _ place: Place, renamingIdentifier: String?, versionHashModifier: String?, userInfo: [String: String],
    flags: [(key: String, bit: Int64, isOn: Bool)]
  ) -> [String: PropertyListValue] {
    let name = builder.text(place.property)
    var fields: Fields = [
      "NSPropertyName": name, "NSEntity": reference(to: place.entity),
      "NSRenamingIdentifier": renamingIdentifier.map { builder.text($0) } ?? name,
    ]
    // `_P`: 1 is always there; 64 and 128 say that there is no user info and no modifier.
    var packed: Int64 = 1
    for flag in flags where flag.isOn {
      packed |= flag.bit
      if !flag.key.isEmpty { fields[flag.key] = .boolean(true) }
    }
    if userInfo.isEmpty { packed |= 64 } else { fields["NSUserInfo"] = self.userInfo(userInfo) }
    if let versionHashModifier {
      fields["NSVersionHashModifier"] = builder.text(versionHashModifier)
    } else {
      packed |= 128
    }
    fields["_P"] = .integer(packed)
    return fields
  }

  /// Adds validation; without it `_P` says that there are neither predicates nor warnings.
  private mutating func validate(_ fields: inout Fields, _ predicates: [(predicate: Predicate, error: Int64)]) {
    guard case .integer(let packed)? = fields["_P"] else { return }
    guard !predicates.isEmpty else {
      fields["_P"] = .integer(packed | 16 | 32)
      return
    }
    fields["NSValidationPredicates"] = builder.array(
      predicates.map { builder.predicate($0.predicate) }, isMutable: true)
    fields["NSValidationWarnings"] = builder.array(
      predicates.map { builder.scalar(.integer($0.error)) }, isMutable: true)
  }

  mutating func describe(_ attribute: AttributeDescription, _ place: Place) {
    guard let number = propertyNumbers[place] else { return }
    let (names, fields) = attributeFields(attribute, place)
    builder.describe(number, names: names, fields: fields)
  }

  private mutating func attributeFields(
    _ attribute: AttributeDescription, _ place: Place
  ) -> (names: [String], fields: Fields) {
    var fields = common(
      place, renamingIdentifier: attribute.renamingIdentifier, versionHashModifier: attribute.versionHashModifier,
      userInfo: attribute.userInfo,
      flags: [
        ("NSIsOptional", 2, attribute.isOptional), ("", 4, attribute.isReadOnly),
        ("NSIsTransient", 8, attribute.isTransient), ("NSIsIndexed", 0, attribute.isIndexed),
        ("NSIndexedBySpotlight", 256, attribute.isIndexedBySpotlight),
      ])
    let name = "\(place.entity).\(place.property)"
    addValue(of: attribute, name, to: &fields)
    var names = ["NSAttributeDescription", "NSPropertyDescription", "NSObject"]
    if let derivation = attribute.derivationExpression {
      names.insert("NSDerivedAttributeDescription", at: 0)
      fields["NSDerivationExpression"] = self.derivation(derivation, place: name)
      fields["NSFilteringPredicate"] = predicate(attribute.derivationFilter, place: name)
    } else if attribute.type == .composite {
      names.insert("NSCompositeAttributeDescription", at: 0)
    }
    if attribute.type == .composite { fields["NSCompositeElements"] = elements(attribute, place) }
    return (names, fields)
  }

  /// Type, default, storage and validation.
  private mutating func addValue(of attribute: AttributeDescription, _ name: String, to fields: inout Fields) {
    fields["NSAttributeType"] = .integer(Int64(attribute.type.rawValue))
    fields["NSAttributeValueClassName"] = builder.text(
      attribute.attributeValueClassName ?? CompiledNames.valueClass(attribute.type))
    fields["NSValueTransformerName"] = builder.text(attribute.valueTransformerName)
    fields["NSFlagsKey"] = .integer(
      (attribute.allowsExternalBinaryDataStorage ? 4 : 0) + (attribute.preservesValueInHistoryOnDeletion ? 16 : 0))
    fields["NSDefaultValue"] = CompiledValue.write(attribute, to: &builder)
    validate(&fields, attribute.bounds + readable(attribute.validationPredicates, name))
  }

  /// Predicates that can be read, with Core Data's number for any failure of validation; the others are named as left
  /// out.
  private mutating func readable(_ texts: [String], _ name: String) -> [(predicate: Predicate, error: Int64)] {
    texts.compactMap { text in
      guard let predicate = try? PredicateParser.predicate(text) else {
        leftOut.append("\(name): the validation predicate \(text)")
        return nil
      }
      return (predicate, 1550)
    }
  }

  private mutating func elements(_ attribute: AttributeDescription, _ place: Place) -> PropertyListValue {
    var objects: [PropertyListValue] = []
    for element in attribute.elements {
      let (names, fields) = attributeFields(element, Place(entity: place.entity, property: element.name))
      objects.append(builder.object(names, fields))
    }
    return builder.array(objects)
  }

  /// `x.@count` is archived as the function that it is hashed as (A.4).
  private mutating func derivation(_ text: String, place: String) -> PropertyListValue {
    do {
      var expression = try PredicateParser.expression(text)
      if case .keyPath(.evaluatedObject, let keys) = expression,
        let position = keys.firstIndex(where: { $0.hasPrefix("@") }), position > 0
      {
        let operand = Array(keys[..<position] + keys[(position + 1)...])
        expression = .function(
          operand: nil, name: "\(keys[position].dropFirst()):",
          arguments: [.keyPath(operand: .evaluatedObject, path: operand)])
      }
      return builder.expression(expression)
    } catch {
      leftOut.append("\(place): the derivation \(error)")
      return ArchiveBuilder.null
    }
  }

  mutating func describe(_ relationship: RelationshipDescription, _ place: Place) {
    guard let number = propertyNumbers[place] else { return }
    var fields = common(
      place, renamingIdentifier: relationship.renamingIdentifier, versionHashModifier: relationship.versionHashModifier,
      userInfo: relationship.userInfo,
      flags: [
        ("NSIsOptional", 2, relationship.isOptional), ("", 4, relationship.isReadOnly),
        ("NSIsTransient", 8, relationship.isTransient), ("NSIsIndexed", 0, relationship.isIndexed),
        ("NSIndexedBySpotlight", 256, relationship.isIndexedBySpotlight),
        ("NSIsOrdered", 1024, relationship.isOrdered),
      ])
    fields["NSDestinationEntity"] = reference(to: relationship.destinationEntity)
    fields["_NSDestinationEntityName"] = builder.text(relationship.destinationEntity)
    fields["NSInverseRelationship"] =
      relationship.inverseName.map { reference(to: Place(entity: relationship.destinationEntity, property: $0)) }
      ?? ArchiveBuilder.null
    fields["_NSInverseRelationshipName"] = builder.text(relationship.inverseName)
    fields["NSMaxCount"] = .integer(Int64(relationship.maxCount))
    fields["NSMinCount"] = .integer(Int64(relationship.minCount))
    let rule = CompiledNames.deleteRules.first { $0.rule == relationship.deleteRule }?.number
    fields["NSDeleteRule"] = .integer(rule ?? 1)
    validate(&fields, readable(relationship.validationPredicates, "\(place.entity).\(place.property)"))
    builder.describe(number, names: ["NSRelationshipDescription", "NSPropertyDescription", "NSObject"], fields: fields)
  }

  mutating func describe(_ property: FetchedPropertyDescription, _ place: Place) {
    guard let number = propertyNumbers[place] else { return }
    var fields = common(
      place, renamingIdentifier: property.renamingIdentifier, versionHashModifier: property.versionHashModifier,
      userInfo: property.userInfo,
      flags: [
        ("NSIsOptional", 2, property.isOptional), ("", 4, property.isReadOnly),
        ("NSIsTransient", 8, property.isTransient), ("NSIndexedBySpotlight", 256, property.isIndexedBySpotlight),
      ])
    validate(&fields, [])
    fields["NSFetchRequest"] = fetchRequest(property.fetchRequest, place: "\(place.entity).\(place.property)")
    builder.describe(
      number, names: ["NSFetchedPropertyDescription", "NSPropertyDescription", "NSObject"], fields: fields)
  }

  mutating func fetchRequest(_ request: FetchRequestDescription, place: String) -> PropertyListValue {
    let fields: Fields = [
      "NSEntity": reference(to: request.entity), "NSPredicate": predicate(request.predicate, place: place),
      "NSFetchLimit": .integer(Int64(request.fetchLimit)), "NSFetchOffset": .integer(Int64(request.fetchOffset)),
      "NSBatchSize": .integer(Int64(request.fetchBatchSize)), "NSResultType": .integer(Int64(request.resultType)),
    ]
    return builder.object(["NSFetchRequest", "NSPersistentStoreRequest", "NSObject"], fields)
  }
}
