import CoreDataModel
import CoreDataStore

/// The layout of a sample store, its distribution of keys, and what fills every column.
struct SamplePlan {
  let layout: StoreLayout
  /// By entity table of the layout.
  let keys: [SampleKeys]
  let seed: UInt64
  private let shape: RelationshipShape
  private let unique: Set<ColumnRole>

  init(model: ManagedObjectModel, rows: UInt64, seed: UInt64) throws {
    try model.validate()
    let layout = try StoreLayout(model: model)
    let counts = try SampleSettings.counts(model, names: layout.entityNames, rows: rows)
    let names = Dictionary(grouping: layout.entityNames) { layout.tablePosition(ofEntity: $0) ?? -1 }
    self.layout = layout
    self.seed = seed
    keys = layout.entityTables.indices.map {
      SampleKeys(layout: layout, names: names[$0] ?? [], counts: counts, seed: seed)
    }
    shape = RelationshipShape(model: model)
    unique = UniqueColumns(layout: layout).roles
  }

  private func range(_ entity: String) -> Range<UInt64> {
    layout.tablePosition(ofEntity: entity).map { keys[$0].range(ofEntity: entity) } ?? 0..<0
  }

  private func keys(ofEntity entity: String) -> SampleKeys? { layout.tablePosition(ofEntity: entity).map { keys[$0] } }

  /// Objects of both entities: those of the lower one when one is above the other, otherwise none.
  private func common(_ left: String, _ right: String) -> Range<UInt64> {
    guard layout.tablePosition(ofEntity: left) == layout.tablePosition(ofEntity: right) else { return 0..<0 }
    return range(left).clamped(to: range(right))
  }

  /// What fills the columns of a table, in its order.
  func columns(ofTable table: Int) throws -> [SampleColumn] {
    try layout.entityTables[table].columns.map { column in
      switch column.role {
      case .primaryKey: SampleColumn(owners: 0..<0, content: .nothing)
      case .entity: SampleColumn(owners: 0..<keys[table].count, content: .entityNumber)
      case .optimisticLock: SampleColumn(owners: 0..<keys[table].count, content: .one)
      case .attribute(let entity, let path): try attribute(path, entity: entity, role: column.role)
      case .toOne(let entity, let name): key(name, entity: entity) { .target($0) }
      case .toOneEntity(let entity, let name): key(name, entity: entity) { .targetEntity($0) }
      case .orderingKey(let entity, let name): key(name, entity: entity) { .order($0) }
      case .inverselessOwner(let entity, let name): owner(name, entity: entity) { .target($0) }
      case .inverselessOrder(let entity, let name): owner(name, entity: entity) { .order($0) }
      case .unknown: SampleColumn(owners: 0..<0, content: .nothing)
      }
    }
  }

  private func attribute(_ path: String, entity: String, role: ColumnRole) throws -> SampleColumn {
    let names = path.split(separator: ".").map(String.init)
    var found = layout.model.entity(entity)?.attributes.first { $0.name == names.first }
    for name in names.dropFirst() { found = found?.elements.first { $0.name == name } }
    // Core Data computes derived values by triggers, when the objects are saved next.
    guard let found, found.derivationExpression == nil else { return SampleColumn(owners: 0..<0, content: .nothing) }
    let sampler = try AttributeSampler(
      found, path: path, entity: entity, isUnique: unique.contains(role), seed: seed)
    return SampleColumn(owners: range(entity), content: .attribute(sampler))
  }

  private func key(
    _ name: String, entity: String, content: (TargetSampler) -> SampleColumn.Content
  ) -> SampleColumn {
    guard let relationship = layout.model.relationship(name, of: entity),
      let targetKeys = keys(ofEntity: relationship.destinationEntity)
    else { return SampleColumn(owners: 0..<0, content: .nothing) }
    let own = PropertyReference(entity: entity, name: name)
    let inverse = shape.mutualInverse(of: relationship)
    // Only objects that the inverse can lead to have the key: an inverse may belong to a sub-entity.
    let owners = inverse.map { common(entity, $0.1.destinationEntity) } ?? range(entity)
    let targets = range(relationship.destinationEntity)
    var (choice, first) = (TargetSampler.Choice.random, own)
    var hasGaps = relationship.isOptional
    if let (other, description) = inverse, !description.isToMany {
      // Both sides must come to the same pairs, so they use one base and agree about gaps.
      let isFirst = own.description <= other.description
      first = isFirst ? own : other
      hasGaps = hasGaps && description.isOptional
      let isOneEntity = owners == targets && targetKeys === keys(ofEntity: entity)
      choice = !isOneEntity ? .pair : own == other ? .twin : isFirst ? .successor : .predecessor
    } else if unique.contains(.toOne(entity: entity, name: name)) {
      choice = .pair
    }
    let base = SampleHash.base(seed, "to-one", first.entity, first.name)
    let sampler = TargetSampler(
      owners: owners, targets: targets, keys: targetKeys, choice: choice, base: base, gaps: hasGaps ? 1 : 0)
    return SampleColumn(owners: owners, content: content(sampler))
  }

  /// The owner's key of a to-many without inverse stands in the destination's row; half of the rows have one.
  private func owner(
    _ name: String, entity: String, content: (TargetSampler) -> SampleColumn.Content
  ) -> SampleColumn {
    guard let relationship = layout.model.relationship(name, of: entity), let ownerKeys = keys(ofEntity: entity) else {
      return SampleColumn(owners: 0..<0, content: .nothing)
    }
    let owners = range(relationship.destinationEntity)
    let sampler = TargetSampler(
      owners: owners, targets: range(entity), keys: ownerKeys, choice: .random,
      base: SampleHash.base(seed, "owner", entity, name), gaps: 8)
    return SampleColumn(owners: owners, content: content(sampler))
  }

  /// What fills a join table.
  func links(ofTable table: Int) -> SampleLinks? {
    let join = layout.joinTables[table]
    guard let relationship = layout.model.relationship(join.relationship.name, of: join.relationship.entity),
      let inverse = layout.model.relationship(join.inverse.name, of: join.inverse.entity),
      let sourceKeys = keys(ofEntity: join.relationship.entity), let targetKeys = keys(ofEntity: join.inverse.entity)
    else { return nil }
    return SampleLinks(
      join: join, sourceKeys: sourceKeys, sources: common(join.relationship.entity, inverse.destinationEntity),
      targetKeys: targetKeys, targets: common(relationship.destinationEntity, join.inverse.entity),
      base: SampleHash.base(seed, "links", join.relationship.entity, join.relationship.name))
  }
}

/// What fills a column, in the rows whose positions are ``owners``; all others hold NULL.
struct SampleColumn {
  enum Content {
    case nothing
    case entityNumber
    case one
    case attribute(AttributeSampler)
    case target(TargetSampler)
    case targetEntity(TargetSampler)
    /// 1024 times the row's own key, where it has a target: ascending among all rows with the same one.
    case order(TargetSampler)
  }

  let owners: Range<UInt64>
  let content: Content
}
