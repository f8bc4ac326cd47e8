import CoreDataModel
import RunSupport

/// Reads which destination objects a rule means.
struct RuleTargetReader {
  let values: RuleValueReader

  /// One attribute and the value that an object is found by.
  func key(_ node: MappingNode) throws -> RuleAttribute {
    let pairs = try node.pairs("by")
    guard pairs.count == 1 else { throw node.failure("by has to be one attribute and its value") }
    let value = try values.read(pairs[0].node)
    if let words = value.newInEachRow.first?.words {
      throw pairs[0].node.failure(
        "\(words) is new for each row, so by \(pairs[0].name) finds no object",
        "Give by an attribute whose value the object has, and set \(pairs[0].name) in attributes")
    }
    return RuleAttribute(name: pairs[0].name, value: value)
  }

  /// `$destination`, `$item`, `$source.name`, `$item.name`, `$name`, or keys: `find` and `by`, or `target` and `take`,
  /// and `when`; or `undecided` alone.
  func read(_ node: MappingNode) throws -> RuleTarget {
    guard node.entries != nil else { return try plain(node) }
    let fields = try node.fields(.target)
    if let reason = fields["undecided"], fields.count == 1 { return .undecided(try reason.text("undecided")) }
    guard let when = fields["when"] else { return try unconditional(fields, node) }
    return .when(try RuleReader.predicate(when), try unconditional(fields, node))
  }

  private func unconditional(_ fields: [String: MappingNode], _ node: MappingNode) throws -> RuleTarget {
    if let target = fields["target"] {
      guard fields["find"] == nil, fields["by"] == nil, fields["last"] == nil else {
        throw node.failure("target goes with take and when alone")
      }
      return try fields["take"].map { .one(try plain(target), takesLast: try takesLast($0)) } ?? plain(target)
    }
    guard let entity = fields["find"], let by = fields["by"] else {
      throw node.failure("a target needs find and by, or target with take or when")
    }
    return .found(entity: try entity.text("find"), try key(by), takesLast: try fields["last"]?.flag("last") ?? false)
  }

  private func takesLast(_ node: MappingNode) throws -> Bool {
    switch try node.text("take") {
    case "first": return false
    case "last": return true
    default: throw node.failure("take has to be first or last")
    }
  }

  /// What an expression means.
  func plain(_ node: MappingNode) throws -> RuleTarget {
    switch try values.expression(node) {
    case .variable("destination"): return .destination
    case .variable("item"): return .item
    case .variable(let name) where values.known.contains(name): return .made(name)
    case .variable(let name) where name != "source":
      throw node.failure(
        "no earlier rule makes an object as \(name)",
        values.known.isEmpty
          ? "Write as: \(name) in the rule of objects that makes it, before this one"
          : "Earlier rules make \(values.known.map { "$\($0)" }.joined(separator: ", "))")
    case .keyPath(.variable("source"), let path) where path.count == 1: return .related(path[0], ofItem: false)
    case .keyPath(.variable("item"), let path) where path.count == 1: return .related(path[0], ofItem: true)
    default:
      throw node.failure(
        "this leads to no objects",
        "Allowed are $destination, $item, $source.NAME, $item.NAME, names of as, and find with by")
    }
  }
}
