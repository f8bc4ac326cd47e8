import CoreDataModel
import RunSupport

/// The versions of a model that were shipped, with what version hashes hold of them: the file `schema.lock`.
package struct SchemaLock: Sendable, Equatable {
  /// The name of the file, if nobody gives it another one.
  package static let fileName = "schema.lock"

  /// A version as it was when it was locked.
  package struct Version: Sendable, Equatable {
    /// The version's name.
    package let name: String
    /// The checksum that SwiftData compares, and that stores have in their metadata (A.6).
    package let checksum: String
    /// What version hashes hold of the model, and the renaming identifiers; no more.
    package let model: ManagedObjectModel

    package init(_ model: ManagedObjectModel) {
      (name, checksum, self.model) = (model.name, model.versionChecksum, LockedFacets.of(model))
    }
  }

  /// In the order in which people number them.
  package private(set) var versions: [Version] = []

  package init(_ versions: [Version] = []) { for version in versions { lock(version) } }

  package func version(named name: String) -> Version? { versions.first { $0.name == name } }

  /// Adds a version, or takes it for one of its name.
  package mutating func lock(_ version: Version) {
    unlock(version.name)
    versions.append(version)
    versions.sort { NaturalOrder.precedes($0.name, $1.name) }
  }

  /// Removes a version.
  package mutating func unlock(_ name: String) { versions.removeAll { $0.name == name } }
}
