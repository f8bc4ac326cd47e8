import CoreDataModel
import CoreDataStore
import MappingModels
import Streams

/// Finds out whether the rules of a mapping can do without objects, and makes recipes of them then.
struct RuleRecipeCompiler {
  let mapping: CompiledMapping
  let manager: StepObjects
  private var records: [RecordRecipe] = []

  init(mapping: CompiledMapping, manager: StepObjects) { (self.mapping, self.manager) = (mapping, manager) }

  /// Nil if some rule does more than to make or find objects by a row's own values, and to link them.
  mutating func compile() throws -> RuleRecipe? {
    guard let compiled = (mapping.policy?.policy as? RulePolicy)?.ready, let own = mapping.recipe,
      mapping.filter == nil,
      !mapping.hasExpressions, !manager.lookups.wants(mapping.destination.name), compiled.attributes.isEmpty,
      compiled.relationships.isEmpty, compiled.late.isEmpty
    else { return nil }
    var rules: [RuleRecipe.Rule] = []
    for rule in compiled.objects {
      guard let made = try self.rule(rule) else { return nil }
      rules.append(made)
    }
    // What one rule of a row does, another must not look at.
    guard Set(rules.compactMap { $0.find?.lookup }).count == rules.filter({ $0.find != nil }).count,
      Set(rules.compactMap { $0.join?.table }).count == rules.filter({ $0.join != nil }).count
    else { return nil }
    return RuleRecipe(mapping, own: own, rules: rules, records: records, manager: manager)
  }

  private mutating func rule(_ rule: CompiledObjectRule) throws -> RuleRecipe.Rule? {
    let entity = try manager.entity(rule.entity)._withUnsafeGuaranteedRef { $0 }
    guard rule.forEach == nil, rule.condition == nil, !rule.isNamed, !entity.isAbstract,
      let pieces = pieces(rule, entity)
    else { return nil }
    let record = RecordRecipe(pieces, manager.rules(entity.number))
    records.append(record)
    let isSpooled = manager.keys.keepsKeys(table: entity.table)
    var made = RuleRecipe.Rule(
      record: Unmanaged.passUnretained(record),
      table: isSpooled ? KeyAssignment.spoolNumber(entity.table) : entity.table,
      counter: entity.table, entity: entity.number)
    let feeding = manager.lookups.positions(feeding: entity.name)
    switch rule.kind {
    case .find: return nil
    case .create: guard feeding.isEmpty else { return nil }
    case .findOrCreate:
      guard let key = rule.key, let column = column(of: key), key.stored.type == .string,
        let lookup = manager.lookups.find(rule.entity, key.name), feeding == [lookup]
      else { return nil }
      made.find = (lookup, column)
    }
    guard let link = rule.link else { return made }
    guard let relationship = mapping.destination.relationship(link.name)?.pointee,
      case .join(let join, let ownerIsSource) = relationship.storage, entity.isKind(of: relationship.destinationNumber),
      let (table, recipe) = manager.linkRecipe(join, ownerIsSource: ownerIsSource, offset: mapping.offset)
    else { return nil }
    records.append(recipe)
    made.join = RuleRecipe.Join(
      place: join, table: table, ownerIsSource: ownerIsSource, record: Unmanaged.passUnretained(recipe))
    return made
  }

  /// Where a new object's columns come from; nil if recipes cannot say that.
  private func pieces(_ rule: CompiledObjectRule, _ entity: DestinationEntity) -> [RecordRecipe.Piece]? {
    var pieces = entity.template.map { RecordRecipe.Piece.constant($0) }
    pieces[0] = .constant(.null)
    var set: Set<Int> = []
    func put(_ piece: RecordRecipe.Piece?, _ column: Int) -> Bool {
      guard let piece, set.insert(column).inserted else { return false }
      pieces[column] = piece
      return true
    }
    for attribute in [rule.key].compactMap({ $0 }) + rule.attributes {
      guard put(piece(attribute), attribute.stored.position) else { return nil }
    }
    for relationship in rule.relationships {
      guard let stored = entity.relationship(relationship.name)?.pointee, !relationship.isToMany,
        !stored.hasToOneInverse,
        case .ownKey(_, let column, nil, nil) = stored.storage, put(key(relationship.target, stored), column)
      else { return nil }
    }
    return pieces
  }

  private func column(of attribute: CompiledRuleAttribute) -> Int? {
    guard case .attribute(let origin, .source) = attribute.value, attribute.condition == nil,
      origin.type == attribute.stored.type,
      origin.isExternal == attribute.stored.isExternal
    else { return nil }
    return origin.position
  }

  private func piece(_ attribute: CompiledRuleAttribute) -> RecordRecipe.Piece? {
    if let column = column(of: attribute) { return .columns(from: column, count: 1) }
    guard attribute.condition == nil, case .constant(let value) = attribute.value,
      let fitting = attribute.stored.type.fitting(value)
    else {
      return nil
    }
    return .constant(attribute.stored.type.stored(fitting))
  }

  /// The key of the object that a to-one relationship leads to.
  private func key(_ target: CompiledRuleTarget, _ stored: StoredRelationship) -> RecordRecipe.Piece? {
    switch target {
    case .known(.destination):
      return mapping.destination.isKind(of: stored.destinationNumber) ? .own(by: mapping.offset) : nil
    case .known(.related(let name, ofItem: false)):
      guard let related = mapping.source.relationship(name)?.pointee, let position = related.keyPosition,
        related.entityPosition == nil,
        let other = manager.firstMapping(related.destinationNumber)?._withUnsafeGuaranteedRef({ $0 }),
        other.filter == nil,
        other.destination.isKind(of: stored.destinationNumber)
      else { return nil }
      return .shifted(column: position, by: other.offset)
    default: return nil
    }
  }
}
