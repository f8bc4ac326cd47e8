import CoreDataModel
import CoreDataStore

/// Chooses for every uniqueness constraint the one column that keeps it: no two rows get the same value there, so the
/// other columns are free.
struct UniqueColumns {
  /// The columns chosen.
  private(set) var roles: Set<ColumnRole> = []

  init(layout: StoreLayout) {
    let shape = RelationshipShape(model: layout.model)
    for name in layout.entityNames {
      for constraint in layout.model.entity(name)?.uniquenessConstraints ?? [] {
        let candidates = constraint.compactMap { Self.candidate($0, entity: name, layout: layout, shape: shape) }
        guard !candidates.contains(where: { roles.contains($0.role) }) else { continue }
        // Of equal ones the first.
        guard let best = candidates.map(\.rank).min(), let chosen = candidates.first(where: { $0.rank == best }) else {
          continue
        }
        roles.insert(chosen.role)
      }
    }
  }

  /// A column of the constraint; the smaller its rank, the better it bears distinct values.
  private static func candidate(
    _ property: String, entity: String, layout: StoreLayout, shape: RelationshipShape
  ) -> (role: ColumnRole, rank: Int)? {
    if let column = layout.column(forToOne: property, ofEntity: entity) {
      // A one-to-one has distinct targets anyway.
      let inverse = layout.model.relationship(property, of: entity).flatMap { shape.mutualInverse(of: $0) }
      return (column.role, inverse.map { $0.1.isToMany } ?? true ? 2 : 0)
    }
    guard let column = layout.column(forAttribute: property, ofEntity: entity) else { return nil }
    let names = property.split(separator: ".").map(String.init)
    var attribute = layout.model.attribute(names.first ?? "", of: entity)
    for name in names.dropFirst() { attribute = attribute?.elements.first { $0.name == name } }
    guard let attribute, attribute.derivationExpression == nil else { return nil }
    switch attribute.type {
    case .boolean: return (column.role, 5)
    case .integer16: return (column.role, 4)
    case .float: return (column.role, 3)
    case .undefined, .integer32, .integer64, .decimal, .double, .string, .date, .binaryData, .uuid, .uri,
      .transformable,
      .objectID, .composite:
      return (column.role, attribute.userInfo[SampleSettings.Key.distinct] == nil ? 0 : 1)
    }
  }
}
