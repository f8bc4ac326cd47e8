import CoreDataModel

/// What became of locked versions in the sources of a model.
package struct LockComparison: Sendable {
  /// A locked version that the sources have otherwise.
  package struct Change: Sendable {
    package let version: String
    /// The edits that made it of the locked one.
    package let edits: [ModelEdit]
    /// Why a step that makes the edits cannot be inferred; empty if it can.
    package let obstacles: [Obstacle]
  }

  /// In the order of the lock.
  package private(set) var changed: [Change] = []
  /// Locked versions that the sources do not have, under no name.
  package private(set) var missing: [String] = []
  /// Versions of the sources that are not locked, in their order.
  package private(set) var unlocked: [ManagedObjectModel] = []

  package init(_ lock: SchemaLock, _ versions: [ManagedObjectModel]) {
    let checksums = Set(versions.map(\.versionChecksum))
    for locked in lock.versions {
      guard let now = versions.first(where: { $0.name == locked.name }) else {
        // What a store knows is the checksum: the version's name may be another one now.
        if !checksums.contains(locked.checksum) { missing.append(locked.name) }
        continue
      }
      guard now.versionChecksum != locked.checksum || !now.hasColumns(of: locked.model) else { continue }
      changed.append(
        Change(
          version: locked.name, edits: ModelEdit.list(from: locked.model, to: now),
          obstacles: ModelDifference(from: locked.model, to: now).obstacles))
    }
    let known = Set(lock.versions.map(\.checksum))
    unlocked = versions.filter { !known.contains($0.versionChecksum) && lock.version(named: $0.name) == nil }
  }

  /// Whether all locked versions are in the sources as they were.
  package var isKept: Bool { changed.isEmpty && missing.isEmpty }
}
