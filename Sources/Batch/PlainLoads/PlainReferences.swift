import CoreDataModel
import CoreDataStore
import LoadTables

/// What becomes of a row when the object goes to which a foreign key leads: Core Data's delete rules, as far as keys
/// can say them.
struct PlainReferences {
  let schema: LoadSchema

  private var model: ManagedObjectModel { schema.layout.model }

  /// The rest of a REFERENCES clause.
  func action(_ table: LoadTable, _ column: LoadColumn) -> String {
    switch (table.rows, column.source) {
    // A row of a sub-entity's table is a part of the object.
    case (.objects, .key): return " ON DELETE CASCADE"
    case (.objects(let place, _), .column(let position, _)):
      return action(rule(schema.layout.entityTables[place].columns[position].role), isRequired: column.isRequired)
    case (.links(let join), .link(let name)):
      let layout = schema.layout.joinTables[join]
      let side = name == layout.sourceColumn ? layout.relationship : layout.inverse
      let isDenied = model.relationship(side.name, of: side.entity)?.deleteRule == .deny
      return isDenied ? " ON DELETE RESTRICT" : " ON DELETE CASCADE"
    default: return ""
    }
  }

  /// The rule of the relationship that leads from the object that goes to the row.
  private func rule(_ role: ColumnRole) -> RelationshipDescription.DeleteRule {
    switch role {
    case .toOne(let entity, let name):
      guard let relationship = model.relationship(name, of: entity), let inverse = relationship.inverseName else {
        return .nullify
      }
      return model.relationship(inverse, of: relationship.destinationEntity)?.deleteRule ?? .nullify
    case .inverselessOwner(let owner, let name): return model.relationship(name, of: owner)?.deleteRule ?? .nullify
    case .attribute, .toOneEntity, .orderingKey, .inverselessOrder, .primaryKey, .entity, .optimisticLock, .unknown:
      return .nullify
    }
  }

  private func action(_ rule: RelationshipDescription.DeleteRule, isRequired: Bool) -> String {
    switch rule {
    case .cascade: " ON DELETE CASCADE"
    case .deny: " ON DELETE RESTRICT"
    case .nullify: isRequired ? " ON DELETE RESTRICT" : " ON DELETE SET NULL"
    case .noAction: ""
    }
  }

  /// Relationships whose delete rule no foreign key says: Cascade and Deny where the key is only in the row that goes,
  /// and Cascade of many-to-many relationships.
  var unsaid: [String] {
    model.entities.flatMap { entity in
      entity.relationships.filter { !isSaid($0, of: entity.name) }.map {
        "\(entity.name).\($0.name) (\($0.deleteRule.rawValue))"
      }
    }
  }

  private func isSaid(_ relationship: RelationshipDescription, of entity: String) -> Bool {
    guard !relationship.isTransient, [.cascade, .deny].contains(relationship.deleteRule) else { return true }
    switch schema.layout.storage(of: relationship.name, entity: entity) {
    case .inverseKey?, .ownerKey?, nil: return true
    case .join?: return relationship.deleteRule == .deny
    case .ownKey?:
      guard let inverse = relationship.inverseName else { return false }
      // In a one-to-one relationship both rows have a key.
      if case .ownKey? = schema.layout.storage(of: inverse, entity: relationship.destinationEntity) { return true }
      return false
    }
  }
}
