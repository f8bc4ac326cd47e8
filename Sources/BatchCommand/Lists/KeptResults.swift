import Batch
import Foundation
import Glibc
import Streams
import Synchronization

/// Results of stores that have no run to say them: a file a store in the user's state directory, named after the path
/// that was to have the result. A later success takes it away.
final class KeptResults: Sendable {
  /// Of more the oldest ones go.
  private static let mostFiles = 10_000
  private static let mostBytes = 256 << 10

  private let folder: String?
  private let files = LocalFileSystem()
  private let problem = Mutex<String?>(nil)
  private let lists: KeptLists?

  init() {
    let state = JobRegistry(LocalFileSystem()).directory.map { FilePaths.directory(of: $0) }
    folder = state.map { FilePaths.join($0, "results") }
    lists = state.map { KeptLists(FilePaths.join($0, "lists")) }
  }

  /// Says of all stores of a list that they are not begun: a kill leaves that of all, or of none.
  func begin(_ list: Manifest, by words: ListWords) {
    guard let lists, let first = list.entries.first else { return }
    finishLists()
    let result = KeptResult(ListResult(first), of: first, by: words)
    let whole = try? lists.write(KeptList(result, list.entries))
    for entry in list.entries { note(ListResult(entry), of: entry, by: words) }
    if let whole { try? files.remove(whole) }
  }

  /// Says of the stores of killed lists one by one what was said of all.
  private func finishLists() {
    for (path, list) in lists?.left() ?? [] {
      // On a full disk the file goes on to say it.
      guard (try? list.results.forEach(finish)) != nil else { continue }
      try? files.remove(path)
    }
  }

  private func finish(_ listed: KeptResult) throws {
    if let own = read(listed.target), own.date >= listed.date { return }
    try write(listed, isDurable: false)
  }

  /// Keeps what became of a store, or forgets what was kept of it. A failure does not end the list: it is told at the
  /// end.
  func note(_ result: ListResult, of entry: Manifest.Entry, by words: ListWords) {
    do {
      guard result.tone != .done || ListState.isUnchanged(result.state) else { return try forget(entry.target) }
      guard [.failed, .waiting, .done].contains(result.tone) else { return }
      guard let folder else {
        throw BatchError(.failed, "the user has no state directory; set GODWIT_STATE to a folder")
      }
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try write(KeptResult(result, of: entry, by: words), isDurable: result.tone == .failed)
    } catch {
      problem.withLock { $0 = $0 ?? told(error) }
    }
  }

  /// Lets the command that is to begin a store have what a `resume` of its list has chosen since.
  func add(_ resume: ListWords, to entry: Manifest.Entry) {
    guard var kept = find(entry), kept.tone != .done, let words = kept.words, kept.verb == "migrate" else { return }
    let line = words.adding(resume)
    guard line != kept.line else { return }
    kept.line = line
    do { try write(kept, isDurable: true) } catch { problem.withLock { $0 = $0 ?? told(error) } }
  }

  private func write(_ kept: KeptResult, isDurable: Bool) throws {
    guard let path = path(kept.target) else { return }
    let bytes = [UInt8](try JSONEncoder().encode(kept))
    if isDurable { return try files.writeDurably(bytes, to: path) }
    // Of a list that is stopped these may be thousands, and there is little time.
    try files.replace(path, with: bytes)
  }

  private func told(_ error: any Error) -> String {
    guard !ExitCodes.isOurs(error), let folder else { return "\(error)" }
    let told = BatchError(
      .failed, "the folder cannot be made",
      hint: "Make the folder above it writable, or set GODWIT_STATE to a folder that is", path: folder)
    return "\(told)"
  }

  /// Says what could not be kept, and bounds the number of files.
  func end() {
    if let problem = problem.withLock({ $0 }) {
      Console.error("what failed is not kept for status and report: \(problem)")
    }
    guard let folder, let names = try? files.list(folder), names.count > Self.mostFiles else { return }
    let dated = names.map { name in
      let path = FilePaths.join(folder, name)
      return (path, (try? files.statusOfName(path))?.modified ?? 0)
    }
    for (path, _) in dated.sorted(by: { $0.1 < $1.1 }).prefix(names.count - Self.mostFiles) { try? files.remove(path) }
  }

  /// What is kept of a store; nil if it is nothing, or nothing that can be understood.
  func find(_ entry: Manifest.Entry) -> KeptResult? {
    let (target, store) = (Manifest.whole(entry.target), Manifest.whole(entry.store))
    let own = read(target)
    let last = lists?.find(target).map { listed in own.map { $0.date >= listed.date ? $0 : listed } ?? listed } ?? own
    return last?.store == store ? last : nil
  }

  private func read(_ target: String) -> KeptResult? {
    guard let path = path(target), let status = try? files.statusOfName(path), status.isRegularFile,
      status.owner == geteuid(), let bytes = try? files.readAll(path, cap: Self.mostBytes),
      let kept = try? JSONDecoder().decode(KeptResult.self, from: Data(bytes)), kept.format == 1,
      kept.target == target
    else { return nil }
    return kept
  }

  /// A migration to the path is done, or nobody wants to know any longer.
  func forget(_ target: String) throws {
    finishLists()
    guard let path = path(Manifest.whole(target)), try files.statusOfName(path) != nil else { return }
    try files.remove(path)
  }

  private func path(_ target: String) -> String? {
    folder.map { FilePaths.join($0, JobRegistry.hex(target) + ".json") }
  }
}
