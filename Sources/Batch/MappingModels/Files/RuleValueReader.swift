import CoreDataModel
import RunSupport
import Streams

/// Reads the value of an attribute: an expression, a number or word, or one of the forms that mapping files add to
/// expressions.
struct RuleValueReader {
  let tables: [String: MappingTable]

  /// The forms, each with the keys that go with it.
  private static let forms: [(name: String, keys: Set<String>)] = [
    ("value", []), ("expression", []), ("date", ["format", "zone"]), ("cast", ["to"]), ("sum", []), ("join", ["with"]),
    ("split", ["at", "part"]), ("prefix", ["length"]), ("lookup", ["in"]), ("if", ["then", "else"]), ("uuid", []),
  ]

  /// Reads a value. Throws `badMapping` naming line and key.
  func read(_ node: MappingNode) throws -> RuleValue {
    guard node.entries != nil else { return .expression(try expression(node)) }
    let fields = try node.fields(.value)
    let found = Self.forms.filter { fields[$0.name] != nil }
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

  private func value(
    _ form: String, operand: MappingNode, fields: [String: MappingNode], node: MappingNode
  ) throws -> RuleValue {
    switch form {
    case "value": return .expression(.constant(try constant(operand)))
    case "expression": return .expression(try expression(operand))
    case "date": return try date(operand, fields: fields, at: node)
    case "cast": return .cast(try read(operand), try type(fields["to"], node))
    case "sum": return .sum(try operand.list("sum").map(read))
    case "join": return .join(try operand.list("join").map(read), separator: fields["with"]?.node.scalar?.string ?? "")
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
    case "uuid":
      guard try operand.text("uuid") == "per-row" else {
        throw operand.failure("uuid has one value: per-row", "Without it all objects get the attribute's default")
      }
      return .perRow(.uuid)
    default:
      guard let then = fields["then"] else { throw node.failure("if needs then") }
      let other = try fields["else"].map(read) ?? .expression(.constant(.null))
      return .choice(condition: try RuleReader.predicate(operand), try read(then), else: other)
    }
  }

  /// A text as a date, or a moment of the row's own.
  private func date(
    _ operand: MappingNode, fields: [String: MappingNode], at node: MappingNode
  ) throws -> RuleValue {
    guard operand.node.scalar?.string == "per-row" else {
      return .date(try read(operand), try pattern(fields, node))
    }
    guard fields["format"] == nil, fields["zone"] == nil else {
      throw node.failure("date: per-row is the moment of the migration, and takes neither format nor zone")
    }
    return .perRow(.date)
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
        throw node.failure(error.message, error.hint)
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

  private func pattern(_ fields: [String: MappingNode], _ node: MappingNode) throws -> DatePattern {
    guard let format = fields["format"] else { throw node.failure("date needs format", "For example yyyy-MM-dd") }
    var offset = 0
    if let zone = fields["zone"] {
      guard let found = DatePattern.offset(ofZone: try zone.text("zone")) else {
        throw zone.failure("the zone is not understood", "Allowed are UTC and offsets such as +02:00")
      }
      offset = found
    }
    guard let pattern = DatePattern(try format.text("format"), offset: offset) else {
      throw format.failure(
        "the date format is not understood",
        "Allowed are y yyyy M MM d dd H HH h hh m mm s ss S a z Z X XX XXX, other signs, and letters in apostrophes")
    }
    return pattern
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
      throw node.failure("there is no table \(name)", "The file has \(tables.keys.sorted().joined(separator: ", "))")
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
