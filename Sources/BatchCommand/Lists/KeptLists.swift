import Batch
import Foundation
import Streams
import Synchronization

/// The stores of a list that were not begun when it was: one file says it of all, for the moment in which it is said of
/// each. A kill leaves it.
struct KeptList: Codable {
  var format = 1
  /// Of the first store.
  private var first: KeptResult
  /// Whole paths of stores, and of what was to have their results.
  private var stores: [String]
  private var targets: [String]

  init(_ first: KeptResult, _ entries: [Manifest.Entry]) {
    self.first = first
    (stores, targets) = (entries.map { Manifest.whole($0.store) }, entries.map { Manifest.whole($0.target) })
  }

  /// Whether its process is still there.
  var isAtWork: Bool { first.isWaiting }

  var results: [KeptResult] {
    zip(stores, targets).map { store, target in
      var result = first
      (result.store, result.target) = (store, target)
      return result
    }
  }
}

/// The files of such lists.
final class KeptLists: Sendable {
  private static let suffix = ".stores"
  /// Of a longer list the notes alone say what is not begun.
  private static let mostBytes = 64 << 20
  /// A file that nobody can read is no longer being written after so many seconds.
  private static let secondsOfWriting: Int64 = 60

  private let folder: String
  private let files = LocalFileSystem()
  private let known = Mutex<[String: KeptResult]?>(nil)

  init(_ folder: String) { self.folder = folder }

  /// Returns the path of its file; nil if the list is too long for one.
  func write(_ list: KeptList) throws -> String? {
    let bytes = [UInt8](try JSONEncoder().encode(list))
    guard bytes.count <= Self.mostBytes else { return nil }
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let path = FilePaths.join(folder, UUID().uuidString + Self.suffix)
    try files.replace(path, with: bytes)
    return path
  }

  /// What is said of the store that has its result there; nil if no list says anything.
  func find(_ target: String) -> KeptResult? {
    known.withLock { known in
      let found =
        known
        ?? Dictionary(names(Self.suffix).compactMap(list).flatMap(\.results).map { ($0.target, $0) }) {
          $0.date > $1.date ? $0 : $1
        }
      known = found
      return found[target]
    }
  }

  /// Those whose process was killed. Whoever asks does away with them.
  func left() -> [(path: String, list: KeptList)] {
    known.withLock { $0 = nil }
    names(Self.suffix + ".new").forEach(removeUnfinished)
    return names(Self.suffix).compactMap { path in
      guard let list = list(path) else {
        removeUnfinished(path)
        return nil
      }
      return list.isAtWork ? nil : (path, list)
    }
  }

  private func list(_ path: String) -> KeptList? {
    guard let status = try? files.statusOfName(path), status.isRegularFile, status.owner == geteuid(),
      let bytes = try? files.readAll(path, cap: Self.mostBytes),
      let list = try? JSONDecoder().decode(KeptList.self, from: Data(bytes)), list.format == 1
    else { return nil }
    return list
  }

  private func names(_ suffix: String) -> [String] {
    ((try? files.list(folder)) ?? []).filter { $0.hasSuffix(suffix) }.map { FilePaths.join(folder, $0) }
  }

  /// What a kill kept from its name, or a loss of power from its bytes, once nobody writes it any longer.
  private func removeUnfinished(_ path: String) {
    let latest = Int64(Date().timeIntervalSince1970) - Self.secondsOfWriting
    guard let status = try? files.statusOfName(path), status.isRegularFile, status.owner == geteuid(),
      status.modified / 1_000_000_000 < latest
    else { return }
    try? files.remove(path)
  }
}
