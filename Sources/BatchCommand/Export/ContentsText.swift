import Batch
import Foundation

/// Shows changes while they are found: lines for people, or one JSON document.
final class ContentsText {
  private static let widest = 80

  private let old: String
  private let new: String
  private let json: Bool
  private var isBegun = false
  private var isFirst = true

  init(_ old: String, _ new: String, json: Bool) { (self.old, self.new, self.json) = (old, new, json) }

  /// Of a comparison that is refused nothing is printed.
  private func begin() {
    guard !isBegun else { return }
    isBegun = true
    guard json else { return Console.print("\(old) to \(new)") }
    Console.writeOutput(
      "{\n\"format\": 1,\n\"old\": \(Self.quoted(old)),\n\"new\": \(Self.quoted(new)),\n\"changes\": [")
  }

  func write(_ change: ContentsChange) throws {
    begin()
    guard json else { return Console.print(Self.lines(change).joined(separator: "\n")) }
    Console.writeOutput((isFirst ? "\n" : ",\n") + VisibleText.json(Self.object(change)))
    isFirst = false
  }

  func end(_ summary: ContentsDifference.Summary, listed: UInt64) throws {
    begin()
    let total = summary.counts.values.reduce(0) { $0 + $1.differences }
    guard json else {
      if listed < total { Console.print("  … and \(Console.count(total - listed)) more") }
      let lines =
        (total == 0 ? [Self.equal(summary)] : []) + Self.summary(summary) + summary.notes.map { "note: \($0)" }
      return Console.print(lines.joined(separator: "\n"))
    }
    let counts = try JSONOutput.line(summary.counts)
    let notes = try JSONOutput.line(summary.notes)
    Console.writeOutput(
      "\n],\n\"entities\": \(counts),\n\"isPartial\": \(summary.isPartial),\n\"notes\": \(notes)\n}\n")
  }

  // MARK: Words

  private static func mark(_ kind: ContentsChange.Kind) -> String {
    switch kind {
    case .added: "+"
    case .removed: "-"
    case .changed, .moved: "~"
    }
  }

  /// `Book 7`; both keys where they differ.
  static func name(_ change: ContentsChange) -> String {
    switch (change.oldKey, change.newKey) {
    case (let old?, let new?) where old != new: "\(change.entity) \(old) -> \(new)"
    case (let key?, _), (_, let key?): "\(change.entity) \(key)"
    case (nil, nil): change.entity
    }
  }

  static func short(_ json: String) -> String {
    json.count <= widest ? json : json.prefix(widest) + "…"
  }

  private static func lines(_ change: ContentsChange) -> [String] {
    let head = "\(mark(change.kind)) \(name(change))"
    // Of what is whole the first values are enough to know it by.
    func whole(_ values: [ContentsChange.Value]) -> String {
      let texts = values.map { "\($0.name) \(short($0.new ?? $0.old ?? ""))" }
      return texts.isEmpty ? head : "\(head): \(texts.joined(separator: ", "))"
    }
    guard change.kind == .changed || change.kind == .moved else { return [whole(Array(change.values.prefix(4)))] }
    // A link is known by its ends, which stay.
    let values = change.values.filter { $0.old != $0.new }
    return [whole(change.values.filter { $0.old == $0.new })]
      + values.map { "    \($0.name): \(short($0.old ?? "")) -> \(short($0.new ?? ""))" }
  }

  /// What is said where nothing differs.
  static func equal(_ summary: ContentsDifference.Summary) -> String {
    summary.isPartial ? "no difference in what both states have" : "no difference"
  }

  static func summary(_ summary: ContentsDifference.Summary) -> [String] {
    summary.counts.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.compactMap { name in
      guard let count = summary.counts[name], !count.isEqual || count.saved > 0 || count.same > 0 else { return nil }
      return "  \(name): \(words(count))"
    }
  }

  static func words(_ count: ContentsCount) -> String {
    let parts = [
      ("added", count.added), ("removed", count.removed), ("changed", count.changed), ("moved", count.moved),
      ("saved again", count.saved), ("the same", count.same),
    ]
    return parts.filter { $0.1 > 0 }.map { "\(Console.count($0.1)) \($0.0)" }.joined(separator: ", ")
  }

  // MARK: JSON

  private static func quoted(_ text: String) -> String {
    VisibleText.json((try? JSONOutput.line(text)) ?? "\"\"")
  }

  /// The values are JSON already.
  private static func object(_ change: ContentsChange) -> String {
    let values = change.values.map { value in
      let parts = [("old", value.old), ("new", value.new)].compactMap { name, json in json.map { "\"\(name)\":\($0)" } }
      return "\(quoted(value.name)):{\(parts.joined(separator: ","))}"
    }
    var text = "{\"kind\":\"\(change.kind.rawValue)\",\"entity\":\(quoted(change.entity))"
    if let key = change.newKey ?? change.oldKey { text += ",\"key\":\(key)" }
    if let old = change.oldKey, let new = change.newKey, old != new { text += ",\"oldKey\":\(old)" }
    return text + ",\"values\":{\(values.joined(separator: ","))}}"
  }
}
