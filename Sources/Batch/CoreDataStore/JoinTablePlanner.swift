import CoreDataModel
import RunSupport

/// Finds the many-to-many relationships of a model and names their tables and columns (B.6).
struct JoinTablePlanner {
  private let model: ManagedObjectModel
  private let numbering: EntityNumbering
  private let shape: RelationshipShape
  private var seen: Set<PropertyReference> = []
  /// Column names in use over the whole store: a repeated one gets a suffix, in the order of the walk.
  private var used: Set<String> = []

  private init(model: ManagedObjectModel, numbering: EntityNumbering) {
    self.model = model
    self.numbering = numbering
    self.shape = RelationshipShape(model: model)
  }

  /// All join tables, ordered by the number of the entity that names them, then by name.
  static func tables(model: ManagedObjectModel, numbering: EntityNumbering) throws -> [JoinTable] {
    var planner = JoinTablePlanner(model: model, numbering: numbering)
    var tables: [JoinTable] = []
    // The walk is flat: a sub-entity stands at its own name, with all that it inherits. The first side met names the
    // table.
    for entity in numbering.names.sorted(by: NameOrder.ignoringCase) {
      let relationships = model.relationships(of: entity).sorted { NameOrder.codeUnits($0.name, $1.name) }
      for relationship in relationships where relationship.isToMany && !relationship.isTransient {
        if let table = try planner.table(relationship, met: entity) { tables.append(table) }
      }
    }
    return tables.sorted { left, right in
      let numbers = [left, right].map { numbering.numbers[$0.relationship.entity] ?? 0 }
      return numbers[0] == numbers[1] ? NameOrder.codeUnits(left.name, right.name) : numbers[0] < numbers[1]
    }
  }

  private mutating func table(_ met: RelationshipDescription, met entity: String) throws -> JoinTable? {
    guard let (inverse, inverseDescription) = shape.mutualInverse(of: met), inverseDescription.isToMany else {
      return nil
    }
    let reference = PropertyReference(entity: shape.declarer(of: met.name, entity: entity), name: met.name)
    guard seen.insert(reference).inserted else { return nil }
    seen.insert(inverse)
    if reference == inverse { return try selfInverse(reference, met) }
    // Within one entity 207 of 223 real tables bear the later name; binding probes for the other.
    let isSelf = reference.entity == inverse.entity
    let swap = isSelf && NameOrder.codeUnits(reference.name, inverse.name)
    let (first, second) = swap ? (inverse, reference) : (reference, inverse)
    let (firstOrdered, secondOrdered) =
      swap ? (inverseDescription.isOrdered, met.isOrdered) : (met.isOrdered, inverseDescription.isOrdered)
    let source = unused("Z_\(number(first.entity))\(second.name.uppercased())")
    let destination = unused("Z_\(number(second.entity))\(first.name.uppercased())")
    return JoinTable(
      name: "Z_\(number(first.entity))\(first.name.uppercased())", relationship: first, inverse: second,
      sourceColumn: source, destinationColumn: destination,
      sourceOrderColumn: secondOrdered ? "Z_FOK_\(source.dropFirst(2))" : nil,
      destinationOrderColumn: firstOrdered ? "Z_FOK_\(destination.dropFirst(2))" : nil, isSelfReferencing: isSelf,
      otherName: isSelf ? "Z_\(number(second.entity))\(second.name.uppercased())" : nil)
  }

  /// A relationship that is its own inverse has one name for two columns; the owner's is called REFLEXIVE.
  private mutating func selfInverse(_ reference: PropertyReference, _ met: RelationshipDescription) throws -> JoinTable
  {
    guard !met.isOrdered else {
      throw BatchError(
        .refused, "relationship \(met.name) is ordered, to-many and its own inverse: its layout is not known",
        hint: "Give it an inverse of another name, or make it unordered", entity: reference.entity)
    }
    let name = "Z_\(number(reference.entity))\(reference.name.uppercased())"
    return JoinTable(
      name: name, relationship: reference, inverse: reference, sourceColumn: "REFLEXIVE",
      destinationColumn: unused(name), sourceOrderColumn: nil, destinationOrderColumn: nil, isSelfReferencing: true,
      otherName: nil)
  }

  private func number(_ entity: String) -> Int { numbering.numbers[entity] ?? 0 }

  private mutating func unused(_ name: String) -> String {
    var candidate = name
    var suffix = 0
    while !used.insert(NameOrder.folded(candidate)).inserted {
      suffix += 1
      candidate = "\(name)\(suffix)"
    }
    return candidate
  }
}
