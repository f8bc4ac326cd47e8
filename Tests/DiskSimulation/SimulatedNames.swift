import Foundation
import Streams

/// What a name leads to.
enum SimulatedEntry: Equatable {
  case directory
  case file(inode: UInt64)
}

/// Changes of names that no sync of their directory made durable yet.
///
/// Each change is one step for the disk, as on file systems with a journal: a rename is seen whole or not at all, but
/// for its old name, which may stay beside the new one.
struct SimulatedNames {
  typealias Part = (path: String, entry: SimulatedEntry?)

  private var changes: [[Part]] = []
  /// What the disk has for every name that changes speak of.
  private var durable: [String: SimulatedEntry?] = [:]

  /// Takes down a change; `before` tells what each name led to.
  mutating func change(_ parts: [Part], before: (String) throws -> SimulatedEntry?) rethrows {
    for part in parts where durable[part.path] == nil { durable[part.path] = .some(try before(part.path)) }
    changes.append(parts)
  }

  mutating func didSync(directory: String) {
    var settled = durable
    changes = changes.map { parts in
      func isHere(_ part: Part) -> Bool { FilePaths.directory(of: part.path) == directory }
      // The old name of a rename is gone from the disk only when the new one is there.
      let isWhole = parts.contains { isHere($0) && $0.entry == nil }
      return parts.filter { part in
        guard isWhole || isHere(part) else { return true }
        settled[part.path] = .some(part.entry)
        return false
      }
    }
    .filter { !$0.isEmpty }
    let open = Set(changes.joined().map(\.path))
    durable = settled.filter { open.contains($0.key) }
  }

  /// The names that a disk may have after a power loss. Only those that changed since their last sync are told.
  func surviving(_ survival: Survival, _ random: inout DiskRandom) -> [String: SimulatedEntry?] {
    var found = durable
    for (parts, isKept) in zip(changes, survival.kept(of: changes.count, &random)) where isKept {
      for (index, part) in parts.enumerated() {
        let staysToo = index > 0 && survival == .anything && random.below(4) == 0
        if !staysToo { found[part.path] = .some(part.entry) }
      }
    }
    return found
  }
}
