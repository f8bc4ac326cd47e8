import CoreDataStore
import RunSupport
import Streams

/// Files with external data that go beside a new store: nothing that is there is written over, and after an error none
/// of them is left.
struct ImportExternalFiles {
  /// The folder that they are taken from.
  let source: String
  let fileSystem: any FileSystem
  private let target: ExternalDataFolder
  private(set) var copied: [String] = []
  private var folders: [String] = []

  init(_ source: String, for store: String, _ fileSystem: any FileSystem) throws {
    (self.source, self.fileSystem) = (source, fileSystem)
    target = ExternalDataFolder(store: store)
    guard let status = try fileSystem.status(source) else { throw NearName.noSuchFile(source, "folder") }
    guard status.isDirectory else {
      throw BatchError(
        .refused, "--external names a file, and not a folder", hint: "Name the folder with the files",
        effect: .nothingWritten, path: source)
    }
  }

  private func place(_ name: String) -> String { FilePaths.join(target.files, name) }

  /// Those of the names that the folder has. Throws `refused` if another file stands where one of them would go.
  func find(_ names: Set<String>) throws -> [String] {
    try names.sorted().filter { name in
      guard try fileSystem.status(FilePaths.join(source, name))?.isRegularFile == true else { return false }
      guard try mayBeThere(name) else {
        throw BatchError(
          .refused, "another file stands where a file with external data would be copied",
          hint: "Choose another --output, or move that file away", effect: .nothingWritten, path: place(name))
      }
      return true
    }
  }

  private func mayBeThere(_ name: String) throws -> Bool {
    if try fileSystem.statusOfName(place(name)) == nil { return true }
    return try isThere(name)
  }

  /// Whether the file is at its place already: the folder is the store's own, or an import was killed.
  private func isThere(_ name: String) throws -> Bool {
    let path = FilePaths.join(source, name)
    guard let one = try fileSystem.status(path), let other = try fileSystem.status(place(name)) else { return false }
    if (one.device, one.inode) == (other.device, other.inode) { return true }
    guard other.isRegularFile else { return false }
    return try ImportFiles.areEqual(path, to: place(name), fileSystem)
  }

  /// Copies files that ``find(_:)`` found, durably. Throws `stopped` before a file, if a stop was asked for.
  mutating func copy(_ names: [String], _ monitor: RunMonitor) throws {
    guard !names.isEmpty else { return }
    for folder in [target.path, target.files] where try fileSystem.statusOfName(folder) == nil {
      try fileSystem.makeDirectory(folder)
      folders.append(folder)
    }
    for name in try find(Set(names)) where try fileSystem.statusOfName(place(name)) == nil {
      try monitor.throwIfStopRequested()
      try FileCopy.copy(FilePaths.join(source, name), to: place(name), fileSystem)
      copied.append(name)
    }
    for folder in [target.files, target.path] { try fileSystem.syncDirectory(folder) }
  }

  /// Removes what was copied.
  mutating func undo() {
    for name in copied { try? fileSystem.remove(place(name)) }
    for folder in folders.reversed() { try? fileSystem.removeDirectory(folder) }
    (copied, folders) = ([], [])
  }
}
