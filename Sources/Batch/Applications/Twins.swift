import CoreDataModel
import MappingModels

extension ModelBundle {
  /// Whether it has the same versions: as sources and compiled, in an application and in its extension.
  func isSame(as other: ModelBundle) -> Bool {
    currentVersion == other.currentVersion && versions.map(\.name) == other.versions.map(\.name)
      && zip(versions, other.versions).allSatisfy { $0.versionHashes == $1.versionHashes }
  }

  /// Whether a store of one of its versions may be one of another bundle that has more.
  func isPart(of other: ModelBundle) -> Bool {
    versions.allSatisfy { version in other.versions.contains { $0.versionHashes == version.versionHashes } }
  }
}

extension Application.Mapping {
  /// Whether Xcode made the one of the other, or both of the same.
  func isTwin(of other: Application.Mapping) -> Bool {
    guard model.name == other.model.name, !isWritten, !other.isWritten else { return false }
    func agrees(_ first: [String: [UInt8]], _ second: [String: [UInt8]]) -> Bool {
      first.allSatisfy { second[$0.key] == nil || second[$0.key] == $0.value }
    }
    return agrees(model.sourceHashes, other.model.sourceHashes)
      && agrees(model.destinationHashes, other.model.destinationHashes)
  }
}
