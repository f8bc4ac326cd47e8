/// What a person should know of the attributes that a step's destination derives: Core Data keeps their values by triggers, which
/// it makes with a table.
struct DerivedNotes {
  let drafts: StepDraft
  /// The store's own version.
  let origin: ManagedObjectModel
  /// The store's triggers, and those that are kept.
  let triggers: [SchemaRow]
  let kept: [SchemaRow]

  var notes: [String] {
    var (unkept, uncomputed): ([String], [String]) = ([], [])
    for entity in drafts.step.destination.entities {
      for attribute in entity.attributes where attribute.derivationExpression != nil {
        let name = "\(entity.name).\(attribute.name)"
        let old = origin.hasEntity(entity.name) ? origin.attribute(attribute.name, of: entity.name) : nil
        let isNew = old?.isDerived(like: attribute) != true
        if isNew, !isComputed(attribute, of: entity.name) {
          uncomputed.append(name)
        } else if isNew || has(name, in: triggers), !has(name, in: kept) {
          unkept.append(name)
        }
      }
    }
    let notes = [
      ("derived attributes are computed now, but have no triggers of Core Data's that keep them up to date", unkept),
      ("derived attributes are not computed, and have no triggers of Core Data's", uncomputed),
    ]
    return notes.filter { !$0.1.isEmpty }.map { "\($0.0): \($0.1.sorted().joined(separator: ", "))" }
  }

  private func has(_ name: String, in triggers: [SchemaRow]) -> Bool {
    let part = NameOrder.folded("_\(name.replacing(".", with: "_"))_")
    return triggers.contains { trigger in
      let folded = NameOrder.folded(trigger.name)
      return folded.hasPrefix("z_da_") && folded.contains(part)
    }
  }

  private func isComputed(_ attribute: AttributeDescription, of entity: String) -> Bool {
    let model = drafts.step.destination
    let isPath = attribute.derivationExpression?.contains { "@(".contains($0) } == false
    return (drafts.step.passed + [drafts.step]).flatMap(\.mappingModels).flatMap(\.entityMappings).contains { mapping in
      guard let destination = mapping.destinationEntity, model.isKind(destination, of: entity) else { return false }
      return mapping.attributeMappings.contains { property in
        guard property.name == attribute.name, let expression = property.valueExpression else { return false }
        return expression.isComputed || (isPath && !expression.isConstant)
      }
    }
  }
}

extension Expression {
  fileprivate var isConstant: Bool { if case .constant = self { true } else { false } }
}
