/// Does the text of a trigger still fit the new version? It is never run, and not understood beyond its names: every table and
/// column that it names must still be there, under the number that is in its name, and the attribute that it derives must be
/// derived as before. Core Data's own text holds no entity numbers, others' may (B.8).
struct TriggerFit {
  /// Why a trigger is left out.
  enum Misfit: String, CaseIterable {
    case gone = "triggers that refer to what the new version does not have"
    case derivation = "triggers of attributes that are not derived any more, or in another way"
    case number = "triggers that compare entity numbers, which change,"
  }

  private let gone: Set<String>
  /// Numbers that are in names, of entities that have another one in the new version.
  private let moved: Set<String>
  private let hasSameNumbers: Bool
  /// Beginnings of the names of Core Data's triggers, by whether the attribute is derived as before.
  private let derivations: [String: Bool]

  /// Compares what a store has with what a step writes. `origin` is the store's own version.
  init(_ drafts: StepDraft, origin: StoreBinding, schema: StoreSchema) {
    let layout = drafts.layout
    let source = schema.tables.flatMap { [$0.name] + $0.columns.map(\.name) }
    let own = Set((origin.tables.map(\.schema.name) + origin.joins.map(\.schema.name)).map(NameOrder.folded))
    let carried = schema.tables.filter { !own.contains(NameOrder.folded($0.name)) }
    let tables = layout.entityTables.flatMap { [$0.name] + $0.columns.map(\.name) }
    let joins = layout.joinTables.flatMap { [$0.name] + $0.columns }
    let destination = tables + joins + carried.flatMap { [$0.name] + $0.columns.map(\.name) }
    gone = Set(source.map(NameOrder.folded)).subtracting(destination.map(NameOrder.folded))
    let numbers = (origin.layout.entityNumbers, layout.entityNumbers)
    moved = Set(numbers.0.filter { numbers.1[$0.key] != $0.value }.map { "\($0.value)" })
    hasSameNumbers = numbers.0 == numbers.1
    derivations = Self.derivations(origin, drafts.step.destination)
  }

  /// Core Data names its triggers by table, entity and attribute: the table may be that of the attribute, or one that it is derived from.
  private static func derivations(_ origin: StoreBinding, _ destination: ManagedObjectModel) -> [String: Bool] {
    var found: [String: Bool] = [:]
    let tables = origin.tables.map(\.schema.name) + origin.joins.map(\.schema.name)
    for entity in origin.layout.model.entities {
      for attribute in origin.layout.model.attributes(of: entity.name) where attribute.derivationExpression != nil {
        let other = destination.hasEntity(entity.name) ? destination.attribute(attribute.name, of: entity.name) : nil
        for table in tables {
          found[NameOrder.folded("Z_DA_\(table)_\(entity.name)_\(attribute.name)_")] = other?.isDerived(like: attribute) == true
        }
      }
    }
    return found
  }

  /// Why a trigger is left out; nil where it is kept.
  func misfit(_ row: SchemaRow) -> Misfit? {
    let name = NameOrder.folded(row.name)
    let derivation = derivations.filter { name.hasPrefix($0.key) }.max { $0.key.utf8.count < $1.key.utf8.count }
    guard derivation?.value != false else { return .derivation }
    guard !gone.contains(NameOrder.folded(row.tableName)), let sql = row.sql else { return .gone }
    let tokens = Array(SQLTokens(sql))
    for token in tokens {
      guard let name = token.name.map(NameOrder.folded) else { continue }
      if gone.contains(name) { return .gone }
      if let numbered = NumberedName(name), moved.contains(numbered.number) { return .number }
    }
    return hasSameNumbers || !Self.comparesNumbers(tokens) ? nil : .number
  }

  /// Is Z_ENT compared with something in a text that has numbers?
  private static func comparesNumbers(_ tokens: [SQLTokens.Token]) -> Bool {
    let hasNumber = tokens.contains { if case .literal(let text) = $0 { Int(text) ?? 0 > 0 } else { false } }
    guard hasNumber else { return false }
    return tokens.indices.contains { index in
      guard tokens[index].name.map(NameOrder.folded) == "z_ent" else { return false }
      // NEW.Z_ENT has an owner before it.
      let isOwned = index >= 2 && tokens[index - 1] == .mark(UInt8(ascii: "."))
      let before = index - (isOwned ? 3 : 1)
      return (before >= 0 && isComparison(tokens[before])) || (index + 1 < tokens.count && isComparison(tokens[index + 1]))
    }
  }

  private static func isComparison(_ token: SQLTokens.Token) -> Bool {
    switch token {
    case .mark(let byte): "<>=!".utf8.contains(byte)
    case .word: ["in", "is", "not", "between"].contains { token.isWord($0) }
    default: false
    }
  }
}

extension AttributeDescription {
  /// Is the attribute derived, and from the same as another one?
  func isDerived(like other: AttributeDescription) -> Bool {
    derivationExpression != nil && derivationExpression == other.derivationExpression
      && derivationFilter ?? "" == other.derivationFilter ?? ""
  }
}
