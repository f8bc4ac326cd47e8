import Batch
import Foundation

/// A report in words: what its page and its text say alike.
struct ReportWords {
  let report: RunReport

  /// Text of a file, which may come from anywhere: nothing in it moves a cursor or turns the direction of writing.
  static func plain(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { scalar in
          switch scalar.properties.generalCategory {
          case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse: "\u{FFFD}"
          default: scalar
          }
        }))
  }

  /// The outcome in one or two words.
  var outcome: String { Self.name(isInterrupted ? .interrupted : report.outcome) }

  /// Whether it waits to be resumed: what ended it is said in the sentence.
  var isInterrupted: Bool { report.resumable == true && report.outcome != .cutOver }

  static func name(_ outcome: RunReport.Outcome) -> String {
    switch outcome {
    case .done: "done"
    case .doneWithRejects: "done, with rejects"
    case .running: "running"
    case .paused: "paused"
    case .stopped: "stopped"
    case .failed: "failed"
    case .interrupted: "interrupted"
    case .cutOver: "not in place yet"
    case .rolledBack: "rolled back"
    }
  }

  /// How an interrupted run ended.
  static func end(_ outcome: RunReport.Outcome) -> String { outcome == .interrupted ? "killed" : name(outcome) }

  /// The outcome in a sentence.
  var headline: String {
    if let gone { return gone }
    let version = report.targetVersion.map { Self.plain($0) } ?? "the new version"
    let way = "\(percent) of the way to \(isLoad ? "the tables" : version)"
    let done = isLoad ? "The file has the objects of \(version) in ordinary tables" : "The store is at \(version)"
    switch report.outcome {
    case .done: return "\(done)\(isProved).\(isWritten)"
    case .doneWithRejects:
      let count = report.rejects?.count ?? 0
      let rejected = "\(count.counted("object")) \(count.verb("was", "were")) rejected"
      return "\(done)\(isProved); \(rejected).\(isWritten)"
    case .running: return "The \(work) is running: \(way)."
    case .paused: return "The \(work) is paused at \(way)."
    case .stopped: return "The \(work) was stopped in good order, at \(way)."
    case .failed: return "The \(work) failed at \(way)."
    case .interrupted:
      return "The process was killed, or the machine went down, at \(way)."
    case .cutOver: return "The new store is finished, but not in its place yet."
    case .rolledBack:
      let version = report.presentVersion.map { " at version \(Self.plain($0))" } ?? ""
      return "The \(work) was done\(ended) and rolled back since: the old store\(version) is in its place again."
    }
  }

  /// Whether the destination is no store.
  var isLoad: Bool { report.form != nil }
  private var work: String { isLoad ? "load" : "migration" }

  /// What to say if the result is no longer there.
  private var gone: String? {
    guard report.outcome != .rolledBack, let present = report.present, present.isGone else { return nil }
    let began = "The \(work) was done\(ended), but"
    let what = isLoad ? "file" : "store"
    if present == .missing { return "\(began) the \(what) is no longer at its path: it was moved or removed since." }
    if isLoad { return "\(began) another file is at its path now." }
    let store = report.presentVersion.map { "the store there now is at version \(Self.plain($0))" }
    return "\(began) \(store ?? "the store there now is another one"): it was replaced or rolled back since."
  }

  private var ended: String { report.ended.map { " at \(Self.time($0))" } ?? "" }
  private var isWritten: String {
    report.present == .written ? " The \(isLoad ? "file" : "store") was written to since." : ""
  }
  private var isProved: String { report.proof == nil ? ", not verified" : ", verified" }
  private var percent: String { "\(Int(report.done * 100)) %" }

  /// Name and value, for what is worth a line at the top.
  var figures: [(String, String)] {
    var figures: [(String, String)] = [(isLoad ? "file" : "store", Self.plain(report.destination))]
    func add(_ name: String, _ value: String?) { if let value { figures.append((name, value)) } }
    add("source", report.source.flatMap { $0 == report.destination ? nil : Self.plain($0) })
    add("versions", report.sourceVersion.map { Self.plain("\($0) to \(report.targetVersion ?? "")") })
    add("backup", report.backup.map(Self.plain))
    add("set aside", report.setAside.map(Self.plain))
    add("began", report.started.map(Self.time))
    add("ended", report.ended.map(Self.time))
    if report.seconds > 0 {
      add("run time", "\(duration(report.seconds))\(report.processes > 1 ? " in \(report.processes) processes" : "")")
    }
    add("waited", report.waitedSeconds.map { "\(duration($0)), which the run time does not count" })
    let all = report.processes > 1 ? " by all processes" : ""
    if report.rowsRead > 0 {
      add("rows read", "\(Console.count(report.rowsRead))\(all)\(rate.map { ", \($0)" } ?? "")")
    }
    add("size", bytes)
    add("checkpoints", "\(Console.count(report.checkpoints))\(all)")
    if report.peakMemory > 0 {
      add(
        "memory",
        "\(Console.size(report.peakMemory)) at the peak"
          + (report.memoryLimit.map { ", \(Console.size($0)) allowed" } ?? ""))
    }
    add("time left", report.progress?.secondsLeft.map(duration))
    return figures
  }

  private var rate: String? {
    report.ended != nil && report.seconds > 0
      ? "\(Console.count(UInt64(Double(report.rowsRead) / report.seconds))) per second" : nil
  }

  /// When the store had what the record says of the result.
  var then: String { report.present?.isGone == true ? "after the migration" : "now" }

  private var bytes: String? {
    let (before, after) = (report.bytesBefore.map(Console.size), report.bytesAfter.map(Console.size))
    guard let before else { return after }
    return after.map { "\(before) before, \($0) \(then)" } ?? "\(before) before"
  }

  /// `2025-01-31 12:00:00 UTC`
  static func time(_ text: String) -> String {
    plain(text).replacing("T", with: " ").replacing("Z", with: " UTC")
  }

  func duration(_ seconds: Double) -> String {
    seconds < 10 ? "\(Double(Int(max(0, seconds) * 100)) / 100) s" : Console.duration(min(seconds, 1e12))
  }

  /// Rows of an entity; `about` marks an estimate from a sample.
  func rows(_ size: RunHistory.Size?) -> String? {
    size.map { Console.count($0.rows, isEstimate: $0.isEstimate) }
  }

  /// Bytes of an entity, always estimated from a sample.
  func bytes(_ size: RunHistory.Size?) -> String? { size.flatMap { $0.bytes }.map(Console.size) }

  /// Tables and their rows, of a file of ordinary tables.
  var tables: [(String, String)] { (report.tables ?? []).map { (Self.plain($0.entity), rows($0) ?? "") } }

  /// The account of the rows of a step.
  func tally(_ tally: RunHistory.Tally) -> String {
    var parts = [
      "\(tally.read.counted("object")) read", "\(Console.count(tally.written)) written",
      "\(Console.count(tally.leftOut)) left out", "\(Console.count(tally.rejected)) rejected",
    ]
    if tally.made > 0 { parts.append("\(Console.count(tally.made)) created") }
    if tally.linksWritten > 0 { parts.append("\(tally.linksWritten.counted("link")) written") }
    let cleared = min(tally.linksCleared ?? 0, tally.linksLeftOut)
    if tally.linksLeftOut > cleared { parts.append("\((tally.linksLeftOut - cleared).counted("link")) left out") }
    if cleared > 0 { parts.append("\(cleared.counted("link")) cleared") }
    return parts.joined(separator: ", ")
  }

  /// The accounts of all steps and versions: name and text.
  var tallies: [(String, String)] {
    report.steps.flatMap { step in
      [("\(step.source) to \(step.destination)", tally(step))]
        + (step.balances ?? []).map { ("account", $0) }
    }
  }

  /// What was verified.
  var proof: [String] {
    guard let proof = report.proof else {
      return [
        report.ended == nil ? "Nothing is verified yet." : "The verification was turned off, or another process did it."
      ]
    }
    guard !isLoad else {
      return [
        "SQLite found nothing wrong (integrity_check, foreign_key_check), and other code than wrote them read "
          + "\(proof.rows.counted("row")) in \(proof.tables.counted("table")) back, and compared each value with the store's. "
          + "This took \(duration(proof.seconds))."
      ]
    }
    let reader =
      switch VerificationMode(rawValue: proof.mode) {
      case .sqlite: "A second decoder and SQLite"
      case .full: "A second decoder, which read the finished file from its first page to its last,"
      case .fast, .some(.none), nil: "A second decoder"
      }
    let compared = "compared \(proof.rows.counted("row")) in \(proof.tables.counted("table")) with what was written"
    var lines = [
      "\(reader) checked every page, every index and every key, and \(proof.tables > 0 ? compared : "compared no rows"). "
        + "This took \(duration(proof.seconds)) after the last row."
    ]
    if let external = proof.external { lines.append("Files outside the store: \(Self.plain(external)).") }
    lines.append(
      proof.warningCount == 0 ? "No faults were found." : proof.warningCount.counted("warning") + ":")
    return lines + [VerificationMode.meaning]
  }

  /// Rejected objects with the same rule.
  func rejects(_ group: RunReport.RejectGroup) -> String {
    let keys = group.keys.map(String.init).joined(separator: ", ")
    let more = group.count > UInt64(group.keys.count) ? ", …" : ""
    return Self.plain(
      "\(Console.count(group.count)) × step \(group.step), \(group.mapping): \(group.reason) (\(group.entity) \(keys)\(more))"
    )
  }

  var interruptions: String {
    report.interruptions.count.counted("interruption")
  }

  func interruption(_ interruption: RunReport.Interruption) -> String {
    let how =
      switch interruption.code {
      case "stopped": "stopped"
      case nil: "killed"
      default: "failed"
      }
    let pause = interruption.pause.map { "; resumed \(duration($0)) later" } ?? ""
    let reason = interruption.reason.map { ": \(Self.plain($0))" } ?? ""
    return "\(how) after \(duration(interruption.seconds))\(pause)\(reason)"
  }
}
