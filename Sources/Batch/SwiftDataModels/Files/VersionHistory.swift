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

  /// Adds versions in their order. One that is there already is left out.
  mutating func add(_ found: [ManagedObjectModel], revision: String?) {
    for (place, model) in found.enumerated() {
      let hashes = model.versionHashes
      let entry = Entry(
        model: model, hashes: hashes, revision: revision, isCurrent: revision == nil && place == found.count - 1)
      let known = entries.firstIndex { $0.model.name == model.name && $0.hashes == hashes }
      guard let known else {
        entries.append(entry)
        continue
      }
      if revision == nil { entries[known] = entry }
    }
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
