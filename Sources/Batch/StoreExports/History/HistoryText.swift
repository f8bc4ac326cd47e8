import Streams

/// Writes single changes of a history.
struct HistoryText {
  let text: ExportText
  let format: HistoryExport.Format
  let uuid: String

  private static let columns = [
    "time", "transaction", "author", "context", "bundle", "process", "change", "kind", "entity", "key", "uri",
    "properties", "bitmap", "tombstone",
  ]

  func writeHeader() {
    guard format == .csv else { return }
    text.append(Array(Self.columns.joined(separator: ",").utf8))
    text.append("\r\n")
  }

  func write(_ change: HistoryChange) {
    switch format {
    case .text: writeLine(change)
    case .jsonLines: writeObject(change)
    case .csv: writeFields(change)
    }
  }

  // MARK: For programs

  private func string(_ value: String?) {
    guard var value else { return text.appendNull() }
    value.withUTF8 { text.appendText(UnsafeRawBufferPointer($0)) }
  }

  private func number(_ value: Int64?) { if let value { text.append(value) } else { text.appendNull() } }

  private func time(_ seconds: Double?) {
    guard let seconds else { return text.appendNull() }
    guard let date = ExportDate.text(seconds) else { return text.append(seconds) }
    string(String(decoding: date, as: UTF8.self))
  }

  private func uri(_ change: HistoryChange) -> String? {
    guard let entity = change.entity, let key = change.key else { return nil }
    return "x-coredata://\(uuid)/\(entity)/p\(key)"
  }

  private func writeObject(_ change: HistoryChange) {
    let origin = change.origin
    let parts: [(StaticString, () -> Void)] = [
      ("{\"time\":", { time(origin?.time) }), (",\"transaction\":", { number(change.transaction) }),
      (",\"author\":", { string(origin?.author) }), (",\"context\":", { string(origin?.context) }),
      (",\"bundle\":", { string(origin?.bundle) }), (",\"process\":", { string(origin?.process) }),
      (",\"change\":", { number(change.number) }), (",\"kind\":", { string(change.kind) }),
      (",\"entity\":", { string(change.entity) }), (",\"key\":", { number(change.key) }),
      (",\"uri\":", { string(uri(change)) }), (",\"properties\":", { names(change.properties) }),
      (",\"bitmap\":", { string(change.bitmapText) }), (",\"tombstone\":", { tombstone(change, to: text) }),
    ]
    for (label, body) in parts {
      text.append(label)
      body()
    }
    text.append("}\n")
  }

  private func names(_ names: [String]?) {
    guard let names else { return text.appendNull() }
    text.append("[")
    for (place, name) in names.enumerated() {
      if place > 0 { text.append(",") }
      string(name)
    }
    text.append("]")
  }

  /// What is kept of a deleted object as JSON; null without.
  private func tombstone(_ change: HistoryChange, to text: ExportText) {
    guard !change.tombstone.isEmpty else { return text.appendNull() }
    let values = ExportValueWriter(text: text, externalSize: { _ in nil })
    for (place, entry) in change.tombstone.enumerated() {
      text.append(place == 0 ? "{" : ",")
      text.append(ExportText.prepared(entry.column, .jsonLines))
      text.append(":")
      ExportCell.with(entry.value) { values.write($0, as: .stored) }
    }
    text.append("}")
  }

  private func writeFields(_ change: HistoryChange) {
    let origin = change.origin
    let parts: [() -> Void] = [
      { time(origin?.time) }, { number(change.transaction) }, { string(origin?.author) }, { string(origin?.context) },
      { string(origin?.bundle) }, { string(origin?.process) }, { number(change.number) }, { string(change.kind) },
      { string(change.entity) }, { number(change.key) }, { string(uri(change)) },
      { string(change.properties?.joined(separator: " ")) }, { string(change.bitmapText) },
      {
        let json = ExportText(format: .jsonLines, sink: { _ in })
        tombstone(change, to: json)
        if !change.tombstone.isEmpty { string(String(decoding: json.take(), as: UTF8.self)) }
      },
    ]
    for (place, body) in parts.enumerated() {
      if place > 0 { text.append(",") }
      body()
    }
    text.append("\r\n")
  }

  // MARK: For people

  private func writeLine(_ change: HistoryChange) {
    let time = change.origin?.time.map { ExportDate.text($0).map { String(decoding: $0, as: UTF8.self) } ?? "\($0)" }
    let who = [change.origin?.author, change.origin?.context, change.origin?.bundle].compactMap { $0 }
    let object = "\(change.entity ?? "entity \(change.entityNumber ?? 0)") \(change.key ?? 0)"
    let transaction = change.transaction.map { "transaction \($0)" } ?? "no transaction"
    var line = "\(time ?? "time unknown")  \(transaction)  \(change.kind) \(object)"
    if let names = change.properties, !names.isEmpty {
      line += ": \(names.joined(separator: ", "))"
    } else if let bits = change.bitmapText, change.properties == nil {
      line += ": bits \(bits)"
    }
    if !change.tombstone.isEmpty {
      let json = ExportText(format: .jsonLines, sink: { _ in })
      tombstone(change, to: json)
      line += "  kept \(String(decoding: json.take(), as: UTF8.self))"
    }
    if !who.isEmpty { line += "  by \(who.joined(separator: ", "))" }
    // Names come from a file, and a line is a line.
    let shown = line.unicodeScalars.map { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) ? "\u{FFFD}" : $0 }
    var plain = String(String.UnicodeScalarView(shown)) + "\n"
    plain.withUTF8 { text.append(Array($0)) }
  }
}
