import ArgumentParser
import Batch
import Foundation

struct LockCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lock", abstract: "Writes down the versions of a model that were shipped, for check to compare.",
    discussion: """
      The lock, schema.lock, has each version's checksum, and of each entity the version hash and the properties. Keep it under \
      version control. Versions that are not in it are added. One that is in it is not changed: if the sources have it \
      otherwise, nothing is written, and the exit code is 4.
      """)

  @OptionGroup var options: LockOptions

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Lock this version as it is now although it changed, or forget it if it is gone. Repeat it.", valueName: "version"
    ),
    completion: .versions)
  var update: [String] = []

  @Flag(name: .long, help: .json) var json = false

  private struct Done: Encodable {
    let lock: String
    var added: [String] = []
    var updated: [String] = []
    var forgotten: [String] = []
    /// As they were before.
    var kept: [String] = []
  }

  func run() throws {
    let (bundle, path) = (try options.bundle(), options.path)
    let before = try LockReader.read(path) ?? SchemaLock()
    let comparison = LockComparison(before, bundle.versions)
    try refuse(comparison, of: bundle, with: before)
    var (lock, done) = (before, Done(lock: path))
    for change in comparison.changed {
      lock.lock(SchemaLock.Version(bundle.versions.first { $0.name == change.version }!))
      done.updated.append(change.version)
    }
    for name in comparison.missing where update.contains(name) {
      lock.unlock(name)
      done.forgotten.append(name)
    }
    // Of what is locked now: a version may have the checksum that another one had.
    for version in LockComparison(lock, bundle.versions).unlocked {
      lock.lock(SchemaLock.Version(version))
      done.added.append(version.name)
    }
    done.kept = lock.versions.map(\.name).filter { !(done.updated + done.added).contains($0) }
    if lock != before || !FileManager.default.fileExists(atPath: path) { try write(lock, path) }
    Console.print(json ? try JSONOutput.document(done) : Self.text(done))
  }

  /// Ends the command if a locked version changed that `--update` does not name, or if it names one that did not.
  private func refuse(_ comparison: LockComparison, of bundle: ModelBundle, with lock: SchemaLock) throws {
    let open = comparison.changed.map(\.version) + comparison.missing
    for name in update where !open.contains(name) {
      let known = lock.version(named: name) == nil ? "is not locked" : "is as it was locked"
      throw BatchError(
        .refused, "the version \(name) \(known)\(NearName.question(name, in: open))",
        hint: "Leave --update \(name) out", effect: .nothingWritten, path: options.path)
    }
    guard comparison.changed.contains(where: { !update.contains($0.version) }) else { return }
    let report = LockReport(comparison, of: bundle, with: lock, options)
    let findings = report.findings.filter { $0.rule == .changed && !update.contains($0.version) }
    Console.error((LockReportText.lines(findings) + ["\(options.path): nothing was written"]).joined(separator: "\n"))
    throw ExitCode(ExitCodes.lockedVersionChanged)
  }

  private func write(_ lock: SchemaLock, _ path: String) throws {
    let text = try LockWriter(lock).text()
    do { try text.write(toFile: path, atomically: true, encoding: .utf8) } catch {
      throw BatchError(
        .failed, "the lock cannot be written", hint: "Name a file in a folder that is there, with --lock",
        effect: .nothingWritten, path: path, cause: error)
    }
  }

  private static func text(_ done: Done) -> String {
    let parts = [
      ("locked", done.added), ("locked as it is now", done.updated), ("forgotten", done.forgotten),
      ("as before", done.kept),
    ]
    let list = parts.filter { !$0.1.isEmpty }.map { "\($0.0): \($0.1.joined(separator: ", "))" }
    return "\(done.lock): " + (list.isEmpty ? "no versions" : list.joined(separator: "; "))
  }
}
