import CoreDataStore
import RunSupport
import StoreExports
import Streams

/// Copies the files of values that an excerpt's objects have outside the store. Their folder gets its name with the
/// store.
final class ExcerptFiles {
  private let source: ExternalDataFolder
  private let target: ExternalDataFolder
  private let working: String
  private let fileSystem: any FileSystem
  private var isPublished = false
  /// Files that were copied.
  private(set) var copied: UInt64 = 0
  /// Values whose file is not there.
  private(set) var missing: UInt64 = 0

  init(of store: String, for path: String, _ fileSystem: any FileSystem) {
    (source, target) = (ExternalDataFolder(store: store), ExternalDataFolder(store: path))
    working = target.path + StoreExcerpt.suffix
    self.fileSystem = fileSystem
  }

  /// The folder of the files, as long as it has not its name.
  private var folder: String { FilePaths.join(working, FilePaths.name(of: target.files)) }

  /// Throws `refused` if the folder's name is taken.
  func refuseTaken() throws {
    guard try fileSystem.statusOfName(target.path) != nil else { return }
    throw BatchError(
      .refused, "a folder with external data is there already, where that of the output would stand",
      hint: "Choose another --output, or move the folder away", effect: .nothingWritten, path: target.path)
  }

  /// Calls `body`, and removes the files if it throws, or if the process is ended meanwhile.
  func keeping<Result>(_ body: () throws -> Result) throws -> Result {
    try UnfinishedFiles.keeping(working) {
      // What a run left there that was killed.
      UnfinishedFiles.remove(working, fileSystem)
      do { return try body() } catch {
        UnfinishedFiles.remove(isPublished ? target.path : working, fileSystem)
        throw error
      }
    }
  }

  /// Copies the file of a value, if it has one.
  func take(_ decoder: RecordDecoder, _ position: Int) throws {
    let body = decoder.body(position)
    guard decoder.type(position) == SerialType.blob(length: body.count),
      let name = BlobReader.externalFile(body)
    else { return }
    let path = FilePaths.join(source.files, name)
    guard try fileSystem.status(path)?.isRegularFile == true else {
      missing += 1
      return
    }
    if copied == 0 {
      try UnfinishedFiles.addFolder(working, in: fileSystem)
      try fileSystem.makeDirectory(folder)
    }
    let copy = FilePaths.join(folder, name)
    guard try fileSystem.statusOfName(copy) == nil else { return }
    try FileCopy.copy(path, to: copy, fileSystem)
    copied += 1
  }

  /// Gives the folder its name, if there is one.
  func publish() throws {
    guard copied > 0 else { return }
    try refuseTaken()
    try fileSystem.syncDirectory(working)
    try fileSystem.rename(working, to: target.path)
    isPublished = true
    try fileSystem.syncDirectory(FilePaths.directory(of: target.path))
  }
}
