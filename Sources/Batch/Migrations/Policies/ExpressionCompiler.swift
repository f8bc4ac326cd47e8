import CoreDataModel
import CoreDataStore
import MappingModels
import RunSupport
import Streams

/// Understands expressions and predicates of one entity mapping. Throws ``ExpressionDamage`` that names what is not
/// understood.
struct ExpressionCompiler {
  /// What an expression gives, as far as key paths have to know it.
  indirect enum Kind {
    case value
    case source(SourceEntity)
    case destination
    case list(Kind)
  }

  typealias Compiled = (expression: CompiledExpression, kind: Kind)

  let graph: SourceGraph
  let mapping: EntityMapping
  /// What `$source` is, or `SELF` in a predicate of source objects.
  let source: SourceEntity
  /// What `$destination` is; nil in predicates of source objects, which know nothing but their object.
  var destination: DestinationEntity?
  /// Attributes of the destination that are set before the one at hand.
  var earlier: ArraySlice<PropertyMapping> = []
  /// Whether objects of the step are there already. Then `$destination` is one, and its values are no longer known.
  var isLate = false
  /// Source and destination entity of the step's entity mappings, by name.
  var mappings: [String: (source: String?, destination: String?)] = [:]
  /// Names that several of them bear.
  var ambiguous: Set<String> = []
  var now = 0.0
  private var bound: [(name: String, kind: Kind)] = []

  init(graph: SourceGraph, mapping: EntityMapping, source: SourceEntity) {
    (self.graph, self.mapping, self.source) = (graph, mapping, source)
  }

  /// Gives a name to an object or a value that is at hand in addition: the next of the scope's bound ones.
  mutating func bind(_ name: String, _ kind: Kind) { bound.append((name, kind)) }

  mutating func compile(_ expression: Expression) throws -> Compiled {
    switch expression {
    case .constant(let value): return (.constant(value), .value)
    case .decimal(let digits):
      guard let number = Double(digits) else { throw ExpressionDamage("has the decimal \(digits), which is none") }
      return (.constant(.real(number)), .value)
    case .date(let seconds): return (.constant(.real(seconds)), .value)
    case .evaluatedObject: return try self.source(named: "SELF")
    case .variable(let name): return try variable(name)
    case .keyPath(let operand, let path): return try keyPath(operand, path)
    case .function(let operand, let name, let arguments): return try function(operand, name: name, arguments: arguments)
    case .aggregate(let members):
      let parts = try members.map { try compile($0) }
      return (.list(parts.map(\.expression)), .list(parts.first?.kind ?? .value))
    case .subquery(let collection, let variable, let predicate):
      return try subquery(collection, variable: variable, predicate: predicate)
    case .conditional(let predicate, let yes, let no):
      let (yes, no) = (try compile(yes), try compile(no))
      return (.conditional(try compile(predicate), yes.expression, no.expression), yes.kind)
    case .set(let operation, let left, let right):
      let (left, right) = (try compile(left), try compile(right))
      return (.set(operation, left.expression, right.expression), left.kind)
    case .fetch(let request, _, let isCountOnly): return try fetch(request, isCountOnly: isCountOnly)
    }
  }

  mutating func compile(_ predicate: Predicate) throws -> CompiledPredicate {
    switch predicate {
    case .truth(let value): return .truth(value)
    case .compound(let junction, let parts): return .compound(junction, try parts.map { try compile($0) })
    case .compare(let left, let operation, let right):
      var (left, right) = (try compile(left).expression, try compile(right).expression)
      if case .constant(.null) = right { left.asksPresence() }
      if case .constant(.null) = left { right.asksPresence() }
      guard operation.comparison == .matches, case .constant(.text(let pattern)) = right else {
        return .compare(left, operation, right)
      }
      return .matches(left, operation.modifier, try TextPattern(pattern, operation.options))
    }
  }

  private func source(named name: String) throws -> Compiled {
    // SELF in a value expression is no object that Core Data would name.
    guard destination == nil || name == "$source" else { throw ExpressionDamage.bareName }
    return (.source, .source(source))
  }

  private func variable(_ name: String) throws -> Compiled {
    if let place = bound.lastIndex(where: { $0.name == name }) { return (.bound(place), bound[place].kind) }
    switch name {
    case "source": return try source(named: "$source")
    case "destination" where destination != nil: return (.destination, .destination)
    default: throw ExpressionDamage.unknown(variable: name, known: bound.map(\.name))
    }
  }

  // MARK: Key paths

  private mutating func keyPath(_ operand: Expression, _ path: [String]) throws -> Compiled {
    switch operand {
    case .variable("entityMapping"): return (.constant(try mapping.value(at: path)), .value)
    case .variable("destination") where destination != nil: return try destinationPath(path)
    default: break
    }
    let start = try compile(operand)
    let (steps, kind) = try steps(path[...], from: start.kind)
    return (.path(start.expression, steps), kind)
  }

  /// Of an object that is being made: attributes that were set before, or else default values, and no related objects
  /// yet.
  private func destinationPath(_ path: [String]) throws -> Compiled {
    guard let destination, let name = path.first else { throw ExpressionDamage("has an empty key path") }
    guard !isLate else { throw ExpressionDamage("reads $destination.\(name) when the object is written already") }
    if let attribute = destination.attributes[name], path.count == 1 {
      guard earlier.contains(where: { $0.name == name }) else {
        let value = attribute.outOfColumn(destination.template[attribute.position])
        return (.constant(value.map(attribute.type.normalized) ?? .null), .value)
      }
      return (.column(attribute, name: name), .value)
    }
    guard let relationship = destination.relationships[name] else {
      throw ExpressionDamage(
        "reads $destination.\(path.joined(separator: ".")), which \(destination.name) does not have")
    }
    if case .ownKey = relationship.storage { return (.constant(.null), .value) }
    guard path.count > 1 else { return (.list([]), .list(.destination)) }
    guard path[1].hasPrefix("@") else { return (.list([]), .list(.value)) }
    guard let function = CollectionOperator(rawValue: String(path[1].dropFirst())) else {
      throw ExpressionDamage("has the collection operator \(path[1]), which is not known")
    }
    return (.path(.list([]), [.collect(function, [])]), .value)
  }

  private func steps(_ path: ArraySlice<String>, from kind: Kind) throws -> (steps: [PathStep], kind: Kind) {
    guard let key = path.first else { return ([], kind) }
    if key.hasPrefix("@") { return try collect(key, rest: path.dropFirst(), kind: kind) }
    var (entity, isMany) = (kind, false)
    while case .list(let member) = entity { (entity, isMany) = (member, true) }
    guard case .source(let owner) = entity else {
      // A text's length is the one key that values have.
      throw ExpressionDamage("reads \(key) of what is no source object")
    }
    let length = owner.attributeLength(path)
    let (step, own) = try self.step(path.prefix(length).joined(separator: "."), of: owner)
    let (rest, last) = try steps(path.dropFirst(length), from: isMany ? .list(own) : own)
    guard case .collect(.count, _)? = rest.first else { return ([step] + rest, last) }
    return ([step.askingPresence] + rest, last)
  }

  private func step(_ key: String, of owner: SourceEntity) throws -> (PathStep, Kind) {
    if let attribute = owner.attributes[key] { return (.attribute(attribute, name: key), .value) }
    guard let relationship = owner.relationships[key], let target = graph.entities[relationship.destination] else {
      let known = owner.attributes.names + owner.relationships.names
      let near = NearName.question(key, in: known)
      throw ExpressionDamage(
        "reads \(key), which the source's \(owner.name) does not have\(near)",
        hint: "\(owner.name) has \(known.joined(separator: ", "))")
    }
    if relationship.keyPosition != nil { return (.toOne(relationship), .source(target)) }
    return (.toMany(relationship, name: key), .list(.source(target)))
  }

  private func collect(_ key: String, rest: ArraySlice<String>, kind: Kind) throws -> (
    steps: [PathStep], kind: Kind
  ) {
    guard let function = CollectionOperator(rawValue: String(key.dropFirst())) else {
      throw ExpressionDamage("has the collection operator \(key), which is not known")
    }
    guard case .list(let member) = kind, function == .count || !rest.isEmpty else {
      throw ExpressionDamage("has \(key) without a collection before it or a key behind it")
    }
    let (steps, last) = try steps(rest, from: member)
    switch function {
    case .count, .sum, .min, .max, .avg: return ([.collect(function, steps)], .value)
    default:
      if case .list = last { return ([.collect(function, steps)], last) }
      return ([.collect(function, steps)], .list(last))
    }
  }

  // MARK: Functions

  private mutating func function(_ operand: Expression?, name: String, arguments: [Expression]) throws -> Compiled {
    switch operand {
    case .none:
      guard let name = FormatFunctions.fullName(name), FormatFunctions.takes(name, arguments.count) else {
        throw ExpressionDamage("calls the function \(name), which is not supported")
      }
      if name == "now" { return (.constant(.real(now)), .value) }
      return (.function(name: name, arguments: try arguments.map { try compile($0).expression }), .value)
    case .some(.variable("entityPolicy")) where destination != nil:
      guard mapping.hasPolicy else { throw ExpressionDamage.unnamed(name) }
      return (.policy(name: name, arguments: try arguments.map { try argument($0) }), .value)
    case .some(.variable("manager")) where destination != nil: return try manager(name, arguments)
    default: throw ExpressionDamage.unknown(function: name)
    }
  }

  private mutating func manager(_ name: String, _ arguments: [Expression]) throws -> Compiled {
    guard arguments.count == 2, case .constant(.text(let text)) = arguments[0] else {
      throw ExpressionDamage("calls \(name) without a name")
    }
    let objects = try compile(arguments[1])
    switch name {
    case "destinationInstancesForEntityMappingNamed:sourceInstances:":
      _ = try entities(of: text)
      return (.destinations(mapping: text, of: objects.expression), .list(.destination))
    case "destinationInstancesForSourceRelationshipNamed:sourceInstances:":
      return (.destinations(mapping: nil, of: objects.expression), .list(.destination))
    case "sourceInstancesForEntityMappingNamed:destinationInstances:":
      guard let entity = try entities(of: text).source.flatMap({ graph.entities[$0] }) else {
        throw ExpressionDamage("asks for the sources of \(text), which has none")
      }
      return (.sources(mapping: text, of: objects.expression), .list(.source(entity)))
    default: throw ExpressionDamage("calls \(name) of the migration manager, which is not supported")
    }
  }

  private func entities(of mapping: String) throws -> (source: String?, destination: String?) {
    guard !ambiguous.contains(mapping) else {
      throw ExpressionDamage("names the entity mapping \(mapping), of which the step has several")
    }
    guard let found = mappings[mapping] else {
      throw ExpressionDamage("names the entity mapping \(mapping), which the step does not have")
    }
    return found
  }

  private mutating func subquery(_ collection: Expression, variable: String, predicate: Predicate) throws
    -> Compiled
  {
    let collection = try compile(collection)
    guard case .list(let member) = collection.kind else { throw ExpressionDamage("has a subquery of no collection") }
    bound.append((variable, member))
    defer { bound.removeLast() }
    return (.subquery(collection.expression, try compile(predicate)), collection.kind)
  }

  private func fetch(_ request: Expression, isCountOnly: Bool) throws -> Compiled {
    guard
      case .function(.some(.variable("manager")), "fetchRequestForSourceEntityNamed:predicateString:", let arguments) =
        request,
      arguments.count == 2, case .constant(.text(let name)) = arguments[0],
      case .constant(.text(let text)) = arguments[1]
    else {
      throw ExpressionDamage("has a FETCH of another request than fetchRequestForSourceEntityNamed:predicateString:")
    }
    guard let entity = graph.entities[name] else {
      throw ExpressionDamage("fetches \(name), which the source does not have")
    }
    var inner = ExpressionCompiler(graph: graph, mapping: mapping, source: entity)
    let fetched = FetchedObjects(
      entity, try inner.compile(PredicateParser.predicate(text, isStrict: true)), graph: graph)
    return (.fetch(fetched, isCountOnly: isCountOnly), isCountOnly ? .value : .list(.source(entity)))
  }
}
