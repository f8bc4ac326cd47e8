import ArgumentParser
import Batch

/// What a person is told of an import that is over.
struct ImportSummaryText {
  let summary: StoreImport.Summary
  let output: String
  /// Whether a folder with files of external data was named.
  let hasExternal: Bool
  /// Nil if it is not known how long it took.
  var seconds: Double?

  var text: String {
    let total = summary.rows.values.reduce(0, +)
    let rate = seconds.map { ", \(Console.count($0 > 0 ? UInt64(Double(total) / $0) : 0)) a second" }
    var lines = ["\(output): \(total.counted("object"))\(rate ?? "")"]
    lines += summary.rows.keys.sorted().map { "  \($0): \(Console.count(summary.rows[$0] ?? 0))" }
    if summary.links > 0 { lines.append("  links: \(Console.count(summary.links))") }
    lines.append("  UUID: \(summary.uuid)")
    if summary.rejects > 0 { lines.append("  left out: \(summary.rejects.counted("line"))") }
    if summary.externalFiles > 0 {
      lines.append("  external files: \(Console.count(summary.externalFiles)) beside the store")
    }
    return (lines + notes).joined(separator: "\n")
  }

  private var notes: [String] {
    var lines = summary.emptyFiles.map { "note: \($0) has no objects" }
    if summary.dangling > 0 {
      lines.append("note: \(summary.dangling.counted("key leads", "keys lead")) to no object")
    }
    if !summary.passedOver.isEmpty {
      lines.append("note: passed over, as the names end otherwise: \(Self.list(summary.passedOver))")
    }
    if summary.missingFiles > 0 {
      lines.append(
        "note: \(summary.missingFiles.counted("external file is", "external files are")) named and "
          + "\(summary.missingFiles.verb("was", "were")) not found; "
          + (hasExternal ? "the folder does not have them" : "--external FOLDER copies them"))
    }
    return lines
  }

  /// Tells what an import made whose last process was killed behind its end. Throws its exit code.
  static func tell(_ end: FinishedImport, _ store: String, isQuiet: Bool) throws {
    guard let summary = end.summary else {
      if !isQuiet { Console.print("\(store): an import had left its folder, which is removed") }
      return
    }
    let text = ImportSummaryText(
      summary: summary, output: store, hasExternal: end.arguments.contains("--external"))
    if !isQuiet { Console.print(text.text) }
    if summary.rejects > 0 { throw ExitCode(ExitCodes.rejects) }
  }

  private static func list(_ paths: [String]) -> String {
    let most = 10
    let rest = paths.count > most ? " and \(paths.count - most) more" : ""
    return paths.prefix(most).joined(separator: ", ") + rest
  }
}
