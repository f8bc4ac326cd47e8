import CoreDataModel

/// The versions of sources at several commits, as one model.
struct VersionHistory {
  private struct Entry {
    var model: ManagedObjectModel
    let hashes: [String: [UInt8]]
    let revision: String?
    let isCurrent: Bool
  }

  private var entries: [Entry] = []

  /// Adds versions in their order; the files as they are come last. One that is there already is left out.
  mutating func add(_ found: [ManagedObjectModel], revision: String?) {
    for (place, model) in found.enumerated() {
      let hashes = model.versionHashes
      let entry = Entry(
        model: model, hashes: hashes, revision: revision, isCurrent: revision == nil && place == found.count - 1)
      let known = entries.firstIndex {
        $0.model.name == model.name && $0.hashes == hashes && $0.model.hasColumns(of: model)
      }
      guard let known else {
        entries.insert(entry, at: self.place(of: found, place))
        continue
      }
      if revision == nil { entries[known] = entry }
    }
  }

  /// Where a version belongs: after those of its name; one of another name by its number, and between its neighbours.
  private func place(of found: [ManagedObjectModel], _ version: Int) -> Int {
    let name = found[version].name
    if let alike = last(named: name) { return alike + 1 }
    let before = version > 0 ? last(named: found[version - 1].name).map { $0 + 1 } ?? 0 : 0
    let lower = entries.lastIndex { Self.numbers($0.model.name).lexicographicallyPrecedes(Self.numbers(name)) }
    let next = found.dropFirst(version + 1).lazy.compactMap { later in
      entries.firstIndex { $0.model.name == later.name }
    }
    return min(next.first ?? entries.count, max(before, lower.map { $0 + 1 } ?? 0))
  }

  private func last(named name: String) -> Int? { entries.lastIndex { $0.model.name == name } }

  private static func numbers(_ name: String) -> [Int64] { name.split(separator: ".").compactMap { Int64($0) } }

  /// The checksum of each version that is not the last one of its name, with that of the last one, whose place among
  /// the stages it has.
  var places: [String: String] {
    let checksums = entries.map { ManagedObjectModel.versionChecksum($0.hashes) }
    var places: [String: String] = [:]
    for (entry, checksum) in zip(entries, checksums) {
      guard let last = last(named: entry.model.name), checksums.count(where: { $0 == checksum }) == 1 else { continue }
      if checksums[last] != checksum { places[checksum] = checksums[last] }
    }
    return places
  }

  /// All of them. Of several that have one name but differ, those of commits get the commit's name, too.
  var versions: [ManagedObjectModel] { entries.map(named) }

  /// The last version of the files as they are, or else of the last commit.
  var current: String? { (entries.last(where: \.isCurrent) ?? entries.last).map { named($0).name } }

  private func named(_ entry: Entry) -> ManagedObjectModel {
    guard let revision = entry.revision, entries.count(where: { $0.model.name == entry.model.name }) > 1 else {
      return entry.model
    }
    var model = entry.model
    // The name may become one of a file.
    model.name += "@\(revision.replacing("/", with: "-"))"
    return model
  }
}
