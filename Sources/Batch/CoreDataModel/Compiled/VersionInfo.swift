import Codecs
import RunSupport

/// `VersionInfo.plist` of a `.momd`: which version is the current one, and the version hashes of all (C.4).
struct VersionInfo {
  /// The name of the current version; nil if the file does not say.
  var currentVersion: String?
  /// Version hashes by version and entity; none where the file was not written by Core Data's own compiler.
  var versionHashes: [String: [String: [UInt8]]] = [:]
  var versionChecksums: [String: String] = [:]

  /// Throws ``BatchError`` with the code `badModel`.
  init(_ path: String) throws {
    guard case .dictionary(let entries) = try PropertyListFile.read(path) else {
      throw BatchError(.badModel, "the file does not describe versions of a model", path: path)
    }
    if case .string(let name)? = entries["NSManagedObjectModel_CurrentVersionName"] { currentVersion = name }
    if case .dictionary(let versions)? = entries["NSManagedObjectModel_VersionHashes"] {
      for case (let version, .dictionary(let hashes)) in versions {
        for case (let entity, .data(let hash)) in hashes { versionHashes[version, default: [:]][entity] = hash }
      }
    }
    if case .dictionary(let versions)? = entries["NSManagedObjectModel_VersionChecksums"] {
      for case (let version, .string(let checksum)) in versions { versionChecksums[version] = checksum }
    }
  }

  /// What the file says and the versions read do not bear out, a sentence for each.
  func contradictions(_ versions: [ManagedObjectModel]) -> [String] {
    var found: [String] = []
    let names = Set(versions.map(\.name))
    for name in Set(versionHashes.keys).subtracting(names).sorted() {
      found.append("the version \(name) is listed in VersionInfo.plist, but has no .mom file")
    }
    for version in versions {
      guard let wanted = versionHashes[version.name] else { continue }
      let computed = version.versionHashes
      let different = Set(wanted.keys).union(computed.keys).filter { wanted[$0] != computed[$0] }.sorted()
      if !different.isEmpty {
        found.append(
          "the version hashes that were computed for the version \(version.name) differ from those in VersionInfo.plist: "
            + different.joined(separator: ", "))
      }
      guard different.isEmpty, let checksum = versionChecksums[version.name],
        checksum != ManagedObjectModel.versionChecksum(computed)
      else { continue }
      found.append("the checksum of the version \(version.name) differs from that in VersionInfo.plist")
    }
    return found
  }
}
