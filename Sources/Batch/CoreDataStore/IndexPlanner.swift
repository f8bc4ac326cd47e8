import CoreDataModel
import RunSupport

/// Plans the indexes of a store in a fixed order: table by table in Z_ENT order, keys, Z_ENT, join tables, fetch
/// indexes, constraints.
struct IndexPlanner {
  private let model: ManagedObjectModel
  private let numbering: EntityNumbering
  private let columnName: (_ property: String, _ entity: String) -> String?
  private(set) var indexes: [IndexLayout] = []
  private var positions: [String: Int] = [:]
  private var trees: Set<String> = []
  private let hasRTrees: Bool

  /// `hasRTrees`: whether SQLite can hold R-trees.
  init(
    model: ManagedObjectModel, numbering: EntityNumbering, hasRTrees: Bool = RTreeLayout.isPossible,
    columnName: @escaping (_ property: String, _ entity: String) -> String?
  ) {
    self.hasRTrees = hasRTrees
    self.model = model
    self.numbering = numbering
    self.columnName = columnName
  }

  /// Adds the indexes of one entity table and of the join tables that its entities name.
  mutating func add(_ table: EntityTable, joins: [JoinTable]) throws {
    let entities = numbering.names.filter { model.root(of: $0) == table.rootEntity }
    for column in table.columns {
      switch column.role {
      case .toOne, .inverselessOwner:
        addPlain("\(table.name)_\(column.name)_INDEX", table: table.name, columns: [column.name])
      default: break
      }
    }
    if entities.count > 1 { addPlain("\(table.name)_Z_ENT_INDEX", table: table.name, columns: ["Z_ENT"]) }
    for join in joins {
      addPlain(
        "\(join.name)_\(join.secondColumn)_INDEX", table: join.name, columns: [join.secondColumn, join.firstColumn])
    }
    let described = entities.compactMap { model.entity($0) }
    for entity in described { try addFetchIndexes(of: entity, table: table) }
    for entity in described {
      for constraint in entity.uniquenessConstraints { try addConstraint(constraint, of: entity, table: table) }
    }
  }

  /// Old-style indexes are what today's framework makes of them: fetch indexes named after their properties (B.7).
  private mutating func addFetchIndexes(of entity: EntityDescription, table: EntityTable) throws {
    typealias Fetch = EntityDescription.FetchIndex
    let old = entity.ownOldIndexes.map { properties in
      Fetch(name: properties.joined(separator: "_"), elements: properties.map { .init(property: $0) })
    }
    for index in old + entity.indexes {
      if index.isRTree {
        try checkTree(index, of: entity)
        continue
      }
      // An index without a column to stand on (transient, fetched, to-many) orders nothing: left out.
      guard let columns = try columns(index.elements, of: entity, in: "index \(index.name)", isFetchIndex: true),
        !columns.isEmpty
      else {
        continue
      }
      try add(
        IndexLayout(
          name: "Z_\(entity.name)_\(index.name)", table: table.name, columns: columns, isUnique: false,
          partialPredicate: index.partialPredicate), entity: entity.name)
    }
  }

  /// An R-tree is a table of its own, `RTreeLayout`; here it is refused where SQLite cannot hold it.
  private mutating func checkTree(_ index: EntityDescription.FetchIndex, of entity: EntityDescription) throws {
    func refuse(_ why: String, hint: String = "Change the index in the model") -> BatchError {
      BatchError(.refused, "the R-tree index \(index.name) \(why)", hint: hint, entity: entity.name)
    }
    guard hasRTrees else {
      throw refuse(
        "cannot be written: this system's SQLite has no R-trees",
        hint: "Install an SQLite with the module rtree, or remove the index from the model")
    }
    guard index.elements.allSatisfy({ $0.type.lowercased() == "rtree" }) else {
      throw refuse("has binary elements, too")
    }
    guard Set(index.elements.map(\.property)).count == index.elements.count else {
      throw refuse("has one property twice")
    }
    guard index.elements.count <= RTreeLayout.mostElements else {
      throw refuse("has \(index.elements.count) elements; SQLite allows \(RTreeLayout.mostElements)")
    }
    // An unknown property is named as in other indexes.
    guard try columns(index.elements, of: entity, in: "index \(index.name)", isFetchIndex: true) != nil else { return }
    let stored = model.storedAttributes(of: entity.name)
    for element in index.elements {
      let type = stored.first { $0.path == element.property }?.attribute.type
      guard type?.isNumeric == true || type == .date else {
        throw refuse("is over \(element.property), which is no number and no date")
      }
    }
    guard trees.insert(NameOrder.folded("\(entity.name)_\(index.name)")).inserted else {
      throw refuse("has the name of another one", hint: "Rename one of them in the model")
    }
  }

  private mutating func addConstraint(_ properties: [String], of entity: EntityDescription, table: EntityTable) throws {
    let what = "uniqueness constraint \(properties.joined(separator: ", "))"
    guard let columns = try columns(properties.map { .init(property: $0) }, of: entity, in: what), !columns.isEmpty
    else {
      throw BatchError(.badModel, "\(what) names a property that is not stored", entity: entity.name)
    }
    let name = "Z_\(entity.name)_UNIQUE_\(properties.joined(separator: "_"))"
    try add(
      IndexLayout(name: name, table: table.name, columns: columns, isUnique: true, partialPredicate: nil),
      entity: entity.name)
  }

  /// The columns of an index, or nil when one of its properties has none, or when it indexes an expression.
  private func columns(
    _ elements: [EntityDescription.FetchIndex.Element], of entity: EntityDescription, in what: String,
    isFetchIndex: Bool = false
  ) throws -> [IndexLayout.Column]? {
    var columns: [IndexLayout.Column] = []
    for element in elements {
      if element.expression != nil { return nil }
      let key = isFetchIndex && element.property == EntityDescription.FetchIndex.object ? "Z_PK" : nil
      guard let name = columnName(element.property, entity.name) ?? key else {
        let first = element.property.split(separator: ".").first.map(String.init) ?? element.property
        let isKnown =
          model.attribute(first, of: entity.name) != nil || model.relationship(first, of: entity.name) != nil
          || entity.fetchedProperties.contains { $0.name == first }
        if isKnown { return nil }
        throw BatchError(.badModel, "\(what) names the unknown property \(element.property)", entity: entity.name)
      }
      columns.append(IndexLayout.Column(name: name, isDescending: !element.isAscending, collation: "BINARY"))
    }
    return columns
  }

  private mutating func addPlain(_ name: String, table: String, columns: [String]) {
    let list = columns.map { IndexLayout.Column(name: $0, isDescending: false, collation: nil) }
    insert(IndexLayout(name: name, table: table, columns: list, isUnique: false, partialPredicate: nil))
  }

  /// The same index under the same name is one index (an attribute marked `indexed` beside a fetch index of its name).
  private mutating func add(_ index: IndexLayout, entity: String) throws {
    if let position = positions[NameOrder.folded(index.name)] {
      guard indexes[position].table == index.table, indexes[position].columns == index.columns else {
        throw BatchError(
          .refused, "two indexes would be called \(index.name)", hint: "Rename one of them in the model",
          entity: entity)
      }
      return
    }
    insert(index)
  }

  private mutating func insert(_ index: IndexLayout) {
    positions[NameOrder.folded(index.name)] = indexes.count
    indexes.append(index)
  }
}
