import CoreDataModel
import RunSupport
import Streams

/// Reads the value of an attribute: an expression, a number or word, or one of the forms that mapping files add to
/// expressions.
struct RuleValueReader {
  let tables: [String: MappingTable]
  /// Names that earlier rules have given to their objects.
  var known: [String] = []

  /// The forms, each with the keys that go with it.
  private static let forms: [(name: String, keys: Set<String>)] = [
    ("value", []), ("expression", []), ("date", ["format", "zone", "epoch", "unit"]), ("cast", ["to"]), ("sum", []),
    ("join", ["with"]), ("split", ["at", "part"]), ("prefix", ["length"]), ("lookup", ["in"]),
    ("if", ["then", "else"]),
    ("uuid", ["name"]), ("uri", []), ("binary", []), ("number", ["epoch", "unit"]), ("text", ["format", "zone"]),
    ("distance", []), ("over", ["first", "last", "sum", "join", "with"]), ("destination", ["attribute"]),
  ]

  /// Reads the value of a whole attribute, which may be given under a condition, or be still to be decided.
  func property(_ node: MappingNode) throws -> RuleValue {
    guard node.entries != nil else { return try read(node) }
    let fields = try node.fields(.value)
    if let reason = fields["undecided"], fields.count == 1 { return .undecided(try reason.text("undecided")) }
    guard let when = fields["when"] else { return try read(node) }
    return .when(try RuleReader.predicate(when), try read(node, isWhole: true))
  }

  /// Reads a value. Throws `badMapping` naming line and key.
  func read(_ node: MappingNode, isWhole: Bool = false) throws -> RuleValue {
    guard node.entries != nil else { return .expression(try expression(node)) }
    var fields = try node.fields(.value)
    if let when = fields.removeValue(forKey: "when"), !isWhole {
      throw when.failure("when is for a whole attribute", "Inside of a value write { if: …, then: …, else: … }")
    }
    let found = Self.forms.filter { fields[$0.name] != nil && (fields["over"] == nil || $0.name == "over") }
    guard found.count == 1, let form = found.first, let operand = fields[form.name] else {
      throw node.failure("a value needs one of \(Self.forms.map(\.name).joined(separator: ", "))")
    }
    if let stray = fields.keys.sorted().first(where: { $0 != form.name && $0 != "default" && !form.keys.contains($0) })
    {
      throw node.failure(
        "\(stray) does not go with \(form.name)",
        form.keys.isEmpty ? nil : "\(form.name) takes \(form.keys.sorted().joined(separator: ", "))")
    }
    let value = try value(form.name, operand: operand, fields: fields, node: node)
    return try fields["default"].map { .fallback(value, try read($0)) } ?? value
  }

  /// `$source.NAME`: a relationship of the source object, or an array.
  func collection(_ node: MappingNode, _ what: String) throws -> String {
    guard case .keyPath(.variable("source"), let path) = try expression(node), path.count == 1 else {
      throw node.failure("\(what) needs a relationship or an array of the source", "Write $source.NAME")
    }
    return path[0]
  }

  private func fold(_ operand: MappingNode, _ fields: [String: MappingNode], at node: MappingNode) throws -> RuleValue {
    let kinds = ["first", "last", "sum", "join"].filter { fields[$0] != nil }
    guard kinds.count == 1, let value = fields[kinds[0]] else {
      throw node.failure(
        "over needs one of first, last, sum and join", "For example { over: $source.lines, sum: $item.price }")
    }
    let kind: RuleFold.Kind =
      switch kinds[0] {
      case "first": .first
      case "last": .last
      case "sum": .sum
      default: .join(separator: fields["with"]?.node.scalar?.string ?? "")
      }
    if kinds[0] != "join", let with = fields["with"] { throw with.failure("with does not go with \(kinds[0])") }
    return .fold(RuleFold(over: try collection(operand, "over"), kind: kind, value: try read(value)))
  }

  private func became(_ operand: MappingNode, _ fields: [String: MappingNode], at node: MappingNode) throws -> RuleValue
  {
    guard let attribute = try fields["attribute"]?.text("attribute") else {
      throw node.failure("destination needs attribute", "For example { destination: $source.owner, attribute: id }")
    }
    let target = try RuleTargetReader(values: self).plain(operand)
    if case .destination = target {
      throw operand.failure(
        "the mapping's own object is not finished", "Allowed are $source.NAME, $item, $item.NAME, and names of as")
    }
    return .became(target, attribute: attribute)
  }

  private func value(
    _ form: String, operand: MappingNode, fields: [String: MappingNode], node: MappingNode
  ) throws -> RuleValue {
    switch form {
    case "value": return .expression(.constant(try constant(operand)))
    case "expression": return .expression(try expression(operand))
    case "date": return try date(operand, fields: fields, at: node)
    case "cast": return .cast(try read(operand), try type(fields["to"], node))
    case "sum": return .sum(try operand.list("sum").map { try read($0) })
    case "join":
      return .join(try operand.list("join").map { try read($0) }, separator: fields["with"]?.node.scalar?.string ?? "")
    case "split":
      let separator = fields["at"]?.node.scalar?.string ?? " "
      guard !separator.isEmpty else { throw node.failure("at has to be a text of one character at least") }
      let part = try fields["part"]?.integer("part") ?? 1
      guard part != 0 else { throw node.failure("parts are counted from 1, or from -1 at the end") }
      return .split(try read(operand), separator: separator, part: part)
    case "prefix":
      guard let length = try fields["length"]?.integer("length"), length >= 0 else {
        throw node.failure("prefix needs length, a number of characters")
      }
      return .prefix(try read(operand), length)
    case "lookup": return .lookup(try read(operand), try table(fields["in"], node))
    case "if":
      guard let then = fields["then"] else { throw node.failure("if needs then") }
      let other = try fields["else"].map { try read($0) } ?? .expression(.constant(.null))
      return .choice(condition: try RuleReader.predicate(operand), try read(then), else: other)
    default: return try derived(form, operand: operand, fields: fields, node: node)
    }
  }

  private func derived(
    _ form: String, operand: MappingNode, fields: [String: MappingNode], node: MappingNode
  ) throws -> RuleValue {
    switch form {
    case "distance":
      let values = try operand.list("distance").map { try read($0) }
      guard values.count == 4 else {
        throw operand.failure("distance takes four values: latitude and longitude of one place, then of the other")
      }
      return .distance(values)
    case "over": return try fold(operand, fields, at: node)
    case "destination": return try became(operand, fields, at: node)
    case "number": return .number(try read(operand), try dates.scale(fields, node))
    case "text": return .formatted(try read(operand), try dates.pattern(fields, node, of: "text"))
    default: return try RuleConstantReader(fields: fields).read(form, operand)
    }
  }

  private let dates = RuleDateReader()

  /// A constant date, a text or a number as a date, or a moment of the row's own.
  private func date(
    _ operand: MappingNode, fields: [String: MappingNode], at node: MappingNode
  ) throws -> RuleValue {
    let text = operand.node.scalar?.string ?? ""
    let isBare = ["format", "zone", "epoch", "unit"].allSatisfy { fields[$0] == nil }
    if text == "per-row" {
      guard isBare else {
        throw node.failure("date: per-row is the moment of the migration, and takes neither format nor zone")
      }
      return .perRow(.date)
    }
    if isBare, let constant = RuleDateReader.constant(text) { return .expression(.date(constant)) }
    if isBare, text.prefixMatch(of: /\d+-\d+-\d+/) != nil {
      throw operand.failure("there is no date \(text)", "Write it as 2024-05-01, or 2024-05-01T12:00:00Z")
    }
    guard fields["epoch"] == nil, fields["unit"] == nil else {
      if let stray = fields["format"] ?? fields["zone"] {
        throw stray.failure("date takes format and zone for texts, or epoch and unit for numbers")
      }
      return .moment(try read(operand), try dates.scale(fields, node))
    }
    return .date(try read(operand), try dates.pattern(fields, node, of: "date"))
  }

  /// A value as it is written: texts are no expressions here.
  private func constant(_ node: MappingNode) throws -> Value {
    switch node.scalar {
    case .value(let value)?: return value
    case .text(let text)?: return .text(text)
    case nil: throw node.failure("a constant has to be a text, a number, true, false or null")
    }
  }

  /// An expression in predicate format; numbers, `true`, `false` and `null` are constants.
  func expression(_ node: MappingNode) throws -> Expression {
    switch node.scalar {
    case .value(let value)?: return .constant(value)
    case .text(let text)?:
      let expression: Expression
      do { expression = try Expression(format: text) } catch let error as BatchError {
        let isPlain = text.allSatisfy { $0.isLetter || $0.isNumber || " .,-".contains($0) }
        throw node.failure(error.message, isPlain ? "For the text itself write { value: \(text) }" : error.hint)
      }
      guard !expression.isBareName else {
        throw node.failure(
          "\(text) is the name of nothing that is known here",
          "Write $source.\(text) for an attribute of the source, or '\(text)' in apostrophes, inside of quotation marks, for a text"
        )
      }
      return expression
    case nil: throw node.failure("an expression has to be a text")
    }
  }

  private func type(_ node: MappingNode?, _ owner: MappingNode) throws -> RuleType {
    let known = RuleType.allCases.map(\.rawValue).joined(separator: ", ")
    guard let node else { throw owner.failure("cast needs to", "Allowed are \(known)") }
    guard let type = RuleType(rawValue: try node.text("to")) else {
      throw node.failure("there is no type of that name", "Allowed are \(known)")
    }
    return type
  }

  private func table(_ node: MappingNode?, _ owner: MappingNode) throws -> MappingTable {
    guard let node else { throw owner.failure("lookup needs in, the name of a table") }
    let name = try node.text("in")
    guard let table = tables[name] else {
      throw node.failure(
        "there is no table \(name)",
        tables.isEmpty
          ? "Name it at the top of the file: tables: { \(name): { file: Table.csv, key: code, value: name } }"
          : "The file has \(tables.keys.sorted().joined(separator: ", "))")
    }
    return table
  }
}

extension Expression {
  /// Whether it is a word alone, as a text is that was meant to be a constant.
  fileprivate var isBareName: Bool {
    if case .keyPath(.evaluatedObject, _) = self { true } else { false }
  }
}
