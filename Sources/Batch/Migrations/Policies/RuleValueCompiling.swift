import CoreDataModel
import CoreDataStore
import MappingModels
import RunSupport
import Streams

// Values and conditions of rules, with their names resolved.
extension RuleCompiler {
  /// What is wrong with a rule for an attribute of a type, as far as that is known before the rows.
  func check(_ attribute: RuleAttribute, _ type: AttributeType, in context: RuleContext) throws {
    if let reason = attribute.value.undecided { throw undecided(attribute.name, reason, write: "value") }
    if let (kind, words) = attribute.value.newInEachRow.first(where: { $0.kind.type != type }),
      kind == .date || measure(attribute.value, context) == .uuid
    {
      throw refusal(
        attribute.name, "has \(words), and its type is \(type)",
        write: "Only attributes of the type \(kind) take it: leave it out"
          + (kind == .uuid ? ", or write { cast: { uuid: … }, to: text }" : ""))
    }
    try checkResult(attribute, type, in: context)
  }

  /// The error for what the mapping file leaves open; `part` is what has to be written.
  func undecided(_ name: String, _ reason: String, write part: String) -> BatchError {
    BatchError(
      .badMapping, "\(mapping.name).\(name) is still to be decided: \(reason)",
      hint: "Write its \(part) in the mapping file in place of undecided", entity: mapping.destinationEntity)
  }

  func measure(_ value: RuleValue, _ context: RuleContext) -> Measure {
    value.measure {
      Measure.of($0, graph.binding.layout.model, source: source.name, item: context.entity?.name)
    } other: { value in
      switch value {
      case .became(let target, let name):
        let found = Set(becameAttributes(target, name, in: context).map { Measure.of($0.type) })
        return found.contains(.uuid) ? .uuid : found.count == 1 ? found.first ?? .other : .other
      case .fold(let fold): return measure(fold, context)
      default: return .other
      }
    }
  }

  private func measure(_ fold: RuleFold, _ outer: RuleContext) -> Measure {
    switch fold.kind {
    case .sum: return .number
    case .join: return .text
    case .first, .last:
      var context = outer
      context.item = (try? collection(fold.over))?.1
      return measure(fold.value, context)
    }
  }

  /// An attribute of what objects become, in each entity that they may become objects of.
  private func becameAttributes(_ target: RuleTarget, _ name: String, in context: RuleContext) -> [StoredAttribute] {
    switch target {
    case .made(let made):
      return [context.made[made].flatMap { entities[$0.entity]?.attributes[name] }].compactMap { $0 }
    case .item, .related: break
    case .destination, .found, .when, .one, .undecided: return []
    }
    var number = context.entity?.number
    if case .related(let relationship, let ofItem) = target {
      number = (ofItem ? context.entity : source)?.relationships[relationship]?.destinationNumber
    }
    let model = graph.binding.layout.model
    guard let entity = number.flatMap({ graph.byNumber[$0]?.name }) else { return [] }
    return drafts.filter { model.isKind($0.source.name, of: entity) }.compactMap { $0.destination.attributes[name] }
  }

  func value(
    _ value: RuleValue, _ context: RuleContext, name: String, of entity: DestinationEntity
  ) throws -> CompiledRuleValue {
    try checkOperands(of: value, name: name, in: context)
    func inner(_ value: RuleValue) throws -> CompiledRuleValue {
      try self.value(value, context, name: name, of: entity)
    }
    /// A UUID as a text, where texts are wanted.
    func text(_ value: RuleValue) throws -> CompiledRuleValue {
      try measure(value, context) == .uuid ? .uuidText(inner(value)) : inner(value)
    }
    return switch value {
    case .expression(let expression): try compiled(expression, context, name: name)
    case .cast(let value, .text): .cast(try text(value), .text)
    case .cast(let value, let type): .cast(try inner(value), type)
    case .sum(let values): .sum(try values.map(inner))
    case .join(let values, let separator): .join(try values.map(text), separator: separator)
    case .split(let value, let separator, let part): .split(try text(value), separator: separator, part: part)
    case .prefix(let value, let length): .prefix(try text(value), length)
    case .lookup(let value, let table): .lookup(try text(value), table)
    case .choice(let condition, let value, let other):
      .choice(try self.condition(condition, context), try inner(value), else: try inner(other))
    case .fallback(let value, let other): .fallback(try inner(value), try inner(other))
    case .distance(let values): .distance(try values.map(inner))
    case .fold(let fold): .fold(try self.fold(fold, context, name: name, of: entity))
    case .became(let target, let name):
      .became(
        try self.target(target, context), attribute: name,
        isExternal: becameAttributes(target, name, in: context).contains(where: \.isExternal))
    case .when, .undecided: throw failure("a condition inside of a value of \(name)")
    case .date, .moment, .number, .formatted: try dated(value, name: name, of: entity, inner)
    case .perRow, .uuid: try new(value, context, name: name, of: entity)
    }
  }

  private func dated(
    _ value: RuleValue, name: String, of entity: DestinationEntity,
    _ inner: (RuleValue) throws -> CompiledRuleValue
  ) throws -> CompiledRuleValue {
    switch value {
    case .date(let value, let pattern): .date(try inner(value), pattern)
    case .moment(let value, let scale): .scaled(try inner(value), scale)
    case .formatted(let value, let pattern): .formatted(try inner(value), pattern)
    case .number(let value, let scale):
      .number(try inner(value), scale, isWhole: entity.attributes[name]?.type.takesFractions != true)
    default: try inner(value)
    }
  }

  private func new(_ value: RuleValue, _ context: RuleContext, name: String, of entity: DestinationEntity) throws
    -> CompiledRuleValue
  {
    // No two objects of a store have the same: not of different rules, mappings or steps, either.
    let origin = [
      graph.reader.metadata.uuid, graph.binding.layout.model.versionChecksum, "\(places)", entity.name, name,
    ]
    switch value {
    case .perRow(.date): return .moment(now)
    case .uuid(.random): return .uuid(origin + ["run \(seed)"])
    case .uuid(.repeatable(let more)):
      return .named(
        UUIDName(
          store: graph.reader.metadata.uuid, source: source.name, item: context.entity?.name ?? context.forEach,
          made: places.count > 1 ? entity.name : nil, name: more))
    default: return .uuid(origin)
    }
  }

  private func fold(_ fold: RuleFold, _ outer: RuleContext, name: String, of entity: DestinationEntity) throws
    -> CompiledFold
  {
    var context = outer
    let (collection, item) = try collection(fold.over)
    (context.item, context.previous) = (item, item)
    var value = try value(fold.value, context, name: name, of: entity)
    if case .join = fold.kind, measure(fold.value, context) == .uuid { value = .uuidText(value) }
    return CompiledFold(over: collection, kind: fold.kind, value: value, usesPrevious: fold.value.uses("previous"))
  }

  /// Attributes are taken as they lie; everything else is an expression as in a mapping model.
  private func compiled(_ expression: Expression, _ context: RuleContext, name: String) throws -> CompiledRuleValue {
    if case .constant(let value) = expression { return .constant(value) }
    if case .keyPath(.variable(let variable), let path) = expression, path.count == 1,
      let (entity, origin) = owner(variable, context), let attribute = entity.attributes[path[0]]
    {
      return .attribute(attribute, origin)
    }
    var compiler = ExpressionCompiler(graph: graph, mapping: mapping, source: source)
    (compiler.destination, compiler.now) = (destination, now)
    let origins = try bind(expression.uses, in: context, to: &compiler, of: "the expression of \(name)")
    do { return .expression(try compiler.compile(expression).expression, origins) } catch let damage
      as ExpressionDamage
    {
      throw unsupported("the expression of \(name)", damage)
    }
  }

  private func owner(_ variable: String, _ context: RuleContext) -> (SourceEntity, RuleOrigin)? {
    switch (variable, context.item, context.previous) {
    case ("source", _, _): (source, .source)
    case ("item", .object(let entity)?, _): (entity, .item)
    case ("previous", _, .object(let entity)?): (entity, .previous)
    default: nil
    }
  }

  /// Gives names to what is at hand, if they are used.
  private func bind(
    _ uses: (String) -> Bool, in context: RuleContext, to compiler: inout ExpressionCompiler, of what: String
  ) throws -> [RuleOrigin] {
    var origins: [RuleOrigin] = []
    for (name, item, origin) in [("item", context.item, RuleOrigin.item), ("previous", context.previous, .previous)]
    where uses(name) {
      guard let item else {
        throw BatchError(
          .badMapping, "\(mapping.name): \(what) has $\(name), which is nothing here",
          hint: name == "item" ? "Write forEach in the rule, or over in the value" : "Write over in the value",
          entity: mapping.destinationEntity)
      }
      compiler.bind(name, item.kind)
      origins.append(origin)
    }
    return origins
  }

  /// A predicate of the source object, which is `SELF` and `$source`, and of `$item`.
  func condition(_ predicate: Predicate, _ context: RuleContext) throws -> CompiledCondition {
    var compiler = ExpressionCompiler(graph: graph, mapping: mapping, source: source)
    let origins = try bind(predicate.uses, in: context, to: &compiler, of: "the predicate \(predicate)")
    do { return CompiledCondition(predicate: try compiler.compile(predicate), origins: origins) } catch let damage
      as ExpressionDamage
    {
      throw unsupported("the predicate \(predicate)", damage)
    }
  }

  private func unsupported(_ what: String, _ damage: ExpressionDamage) -> BatchError {
    BatchError(
      .badMapping, "\(mapping.name): \(damage.sentence(of: what))", hint: damage.hint ?? "Use a policy in Swift",
      entity: mapping.destinationEntity)
  }
}

extension AttributeType {
  /// Whether a number of this type need not be whole.
  fileprivate var takesFractions: Bool {
    switch self {
    case .double, .float, .decimal: true
    case .undefined, .integer16, .integer32, .integer64, .string, .boolean, .date, .binaryData, .uuid, .uri,
      .transformable, .objectID, .composite:
      false
    }
  }
}
