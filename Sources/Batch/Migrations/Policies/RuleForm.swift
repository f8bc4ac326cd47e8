import CoreDataModel
import MappingModels
import RunSupport

// What is known of values by the types of the models alone: a row that a form cannot take would end a run, or be read
// as something else.
extension RuleCompiler {
  func refusal(_ attribute: String, _ message: String, write hint: String) -> BatchError {
    BatchError(
      .badMapping, "\(mapping.name).\(attribute) \(message)", hint: hint, entity: mapping.destinationEntity)
  }

  /// Throws `badMapping` if no value of the rule fits the attribute's type.
  func checkResult(_ attribute: RuleAttribute, _ type: AttributeType, in context: RuleContext) throws {
    let found = measure(attribute.value, context)
    if type == .date, found == .number {
      throw refusal(
        attribute.name, "makes a date of a number and does not say from when it counts", write: Measure.hint)
    }
    guard let hint = type.refusal(of: found) else { return }
    throw refusal(attribute.name, "gives \(found.noun), and its type is \(type)", write: hint)
  }

  /// Throws `badMapping` if a form is given what it cannot read.
  func checkOperands(of value: RuleValue, name: String, in context: RuleContext) throws {
    guard let form = RuleForm(value) else { return }
    for operand in form.operands {
      let found = measure(operand, context)
      guard found != .other, !form.takes.contains(found) else { continue }
      let text = operand.text
      let isBare = found == .number && form.takes == [.date]
      throw refusal(
        name,
        "gives \(text == "…" ? found.noun : "\(text), \(found.noun),") to \(form.title), which takes \(form.wanted)"
          + (isBare ? ": the number does not say from when it counts" : ""),
        write: form.advice(text, found))
    }
  }
}

/// A form of a value, with what it reads.
private struct RuleForm {
  let title: String
  let operands: [RuleValue]
  let takes: Set<Measure>
  let wanted: String
  private let value: RuleValue

  /// Nil for a form that takes anything.
  init?(_ value: RuleValue) {
    self.value = value
    switch value {
    case .date(let operand, _):
      (title, operands, takes, wanted) = ("date with format", [operand], [.text], "a text")
    case .moment(let operand, _):
      (title, operands, takes, wanted) = ("date with epoch", [operand], [.number], "a number")
    case .formatted(let operand, _):
      (title, operands, takes, wanted) = ("text with format", [operand], [.date], "a date")
    case .number(let operand, _):
      (title, operands, takes, wanted) = ("number with epoch", [operand], [.date], "a date")
    case .cast(let operand, let type):
      (title, operands) = ("cast to \(type)", [operand])
      (takes, wanted) = type.operands
    case .sum(let values), .distance(let values):
      title = if case .sum = value { "sum" } else { "distance" }
      (operands, takes, wanted) = (values, [.number, .text, .boolean, .date], "numbers")
    case .join(let values, _): (title, operands, takes, wanted) = ("join", values, Measure.legible, "texts")
    case .split(let operand, _, _): (title, operands, takes, wanted) = ("split", [operand], Measure.legible, "a text")
    case .prefix(let operand, _): (title, operands, takes, wanted) = ("prefix", [operand], Measure.legible, "a text")
    case .lookup(let operand, _): (title, operands, takes, wanted) = ("lookup", [operand], Measure.legible, "a text")
    case .expression, .choice, .perRow, .fallback, .uuid, .when, .fold, .became, .undecided: return nil
    }
  }

  /// What to write instead of an operand's form.
  func advice(_ text: String, _ found: Measure) -> String {
    let counted = " for milliseconds since 1970; unit: s for seconds, epoch: 2001 for seconds since 2001"
    switch (value, found) {
    case (.formatted(_, let pattern), .number):
      return "Write { text: { date: \(text), epoch: unix, unit: ms }, \(pattern.key) }\(counted); for its digits "
        + "{ cast: \(text), to: text }"
    case (.number(_, let scale), .number):
      return
        "Write { number: { date: \(text), epoch: unix, unit: ms }, \(scale.keys) }\(counted); to take it as it is, "
        + text
    case (.formatted(_, let pattern), .text):
      return "Write { text: { date: \(text), format: … }, \(pattern.key) } with the format that the text has"
    case (.number(_, let scale), .text):
      return "Write { number: { date: \(text), format: … }, \(scale.keys) } with the format that the text has"
    case (.date(_, let pattern), .number):
      return "Write { date: \(text), epoch: unix, unit: ms }\(counted); if its digits are the date, "
        + "{ date: { cast: \(text), to: text }, \(pattern.key) }"
    case (.moment(_, let scale), .text):
      return "Write { date: \(text), format: yyyy-MM-dd } with the format that the text has; if it is a number, "
        + "{ date: { cast: \(text), to: integer }, \(scale.keys) }"
    case (.date, .date), (.moment, .date): return "It is a date already: write \(text)"
    case (.cast(_, .uuid), _): return "Only texts are read as UUIDs; for a new one write { uuid: repeatable }"
    case (_, .uuid): return "Write { cast: \(text), to: text } for its text"
    default: return "Give it another value, or set the attribute in a policy"
    }
  }
}

extension Measure {
  /// What can be read as a text.
  fileprivate static let legible: Set<Measure> = [.text, .number, .boolean, .date, .uuid]
}

extension RuleType {
  /// What can be cast to the type, in words as well.
  fileprivate var operands: (takes: Set<Measure>, wanted: String) {
    switch self {
    case .text: (Measure.legible, "a text, a number or a UUID")
    case .integer, .double, .boolean: ([.text, .number, .boolean, .date], "a text or a number")
    case .uuid: ([.text, .uuid, .bytes], "a text")
    case .uri: ([.text], "a text")
    }
  }
}

extension AttributeType {
  /// What to write where values of a measure never fit this type; nil where they may.
  fileprivate func refusal(of measure: Measure) -> String? {
    let none = "Leave it out, or give it a value of its type"
    switch (self, measure) {
    case (_, .other): return nil
    case (.string, .number), (.string, .boolean), (.string, .uuid), (.uri, .uuid):
      return "Write { cast: …, to: text } around the value"
    case (.string, .date), (.uri, .date): return "Write { text: …, format: yyyy-MM-dd } around the value"
    case (.string, .bytes), (.uri, .bytes), (.uri, .number), (.uri, .boolean): return none
    case (.date, .text):
      return "Write { date: …, format: yyyy-MM-dd } around the value, with the format that the text has"
    case (.date, .boolean), (.date, .uuid), (.date, .bytes): return none
    case (.uuid, .text): return "Write { cast: …, to: uuid } around the value"
    case (.uuid, .number), (.uuid, .date), (.uuid, .boolean): return none + ", such as { uuid: repeatable }"
    case (.boolean, .text): return "Write { cast: …, to: boolean } around the value"
    case (.integer16, .text), (.integer32, .text), (.integer64, .text):
      return "Write { cast: …, to: integer } around the value"
    case (.double, .text), (.float, .text), (.decimal, .text): return "Write { cast: …, to: double } around the value"
    case (_, .uuid), (_, .bytes): return isNumeric ? none : nil
    case (.binaryData, _): return none + ": no form makes bytes of it"
    default: return nil
    }
  }
}

extension RuleValue {
  /// How it is written, if that is short.
  fileprivate var text: String { if case .expression(let expression) = self { "\(expression)" } else { "…" } }
}

extension DatePattern {
  /// The key as a mapping file has it.
  fileprivate var key: String { "format: \(MappingFileWriter.quoted(text))" }
}
