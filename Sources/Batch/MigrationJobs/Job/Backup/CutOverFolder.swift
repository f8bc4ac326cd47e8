import CoreDataStore
import Streams

// The folder of external data of a destination that did not exist. It waits in the job directory: what is there is the
// run's own, and a folder under the destination's name may be another store's, whose name differs in its extension
// alone.
extension CutOver {
  /// The folder that goes with a new store; nil for none.
  func folder(of newStore: String) throws -> CutOverJournal.Folder? {
    try fileSystem.statusOfName(ExternalDataFolder(store: newStore).path).map {
      CutOverJournal.Folder(device: $0.device, inode: $0.inode)
    }
  }

  /// Gives the folder its place, before the store that needs it has its own.
  func putFolderBeside(_ journal: CutOverJournal) throws {
    guard let folder = journal.folder else { return }
    let place = ExternalDataFolder(store: journal.destination).path
    if try isFolder(place, folder) { return }
    try refuseExisting(place, "a folder of external data lies where the output's would be")
    try fileSystem.rename(ExternalDataFolder(store: job.file(journal.newStore)).path, to: place)
    try fileSystem.syncDirectory(FilePaths.directory(of: place))
  }

  /// Takes the folder back into the job directory, except for files that somebody else has put there.
  func takeFolderBack(_ journal: CutOverJournal) throws {
    guard let folder = journal.folder else { return }
    let place = ExternalDataFolder(store: journal.destination)
    guard try isFolder(place.path, folder) else { return }
    let own = try fileSystem.list(place.files)
    let source = journal.run?.source.map { ExternalDataFolder(store: $0).files }
    let foreign = try own.filter { name in
      try source.map { try fileSystem.status(FilePaths.join($0, name)) == nil } ?? true
    }
    guard foreign.isEmpty else {
      for name in own where !foreign.contains(name) { try fileSystem.remove(FilePaths.join(place.files, name)) }
      return
    }
    try fileSystem.rename(place.path, to: ExternalDataFolder(store: job.file(journal.newStore)).path)
    try fileSystem.syncDirectory(FilePaths.directory(of: place.path))
  }

  private func isFolder(_ path: String, _ folder: CutOverJournal.Folder) throws -> Bool {
    let status = try fileSystem.statusOfName(path)
    return status?.isDirectory == true && status?.device == folder.device && status?.inode == folder.inode
  }
}
