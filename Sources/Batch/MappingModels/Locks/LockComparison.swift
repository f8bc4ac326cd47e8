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
    func isEqual(_ locked: SchemaLock.Version, _ version: ManagedObjectModel) -> Bool {
      locked.checksum == version.versionChecksum && version.hasColumns(of: locked.model)
    }
    for locked in lock.versions {
      guard let now = versions.first(where: { $0.name == locked.name }) else {
        // What a store knows is the checksum: the version's name may be another one now.
        if !versions.contains(where: { isEqual(locked, $0) }) { missing.append(locked.name) }
        continue
      }
      guard !isEqual(locked, now) else { continue }
      changed.append(
        Change(
          version: locked.name, edits: ModelEdit.list(from: locked.model, to: now),
          obstacles: ModelDifference(from: locked.model, to: now).obstacles))
    }
    unlocked = versions.filter { version in
      lock.version(named: version.name) == nil && !lock.versions.contains { isEqual($0, version) }
    }
  }

  /// Whether all locked versions are in the sources as they were.
  package var isKept: Bool { changed.isEmpty && missing.isEmpty }
}
