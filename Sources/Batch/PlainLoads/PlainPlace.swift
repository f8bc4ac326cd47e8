import Foundation
import Glibc
import LoadTables
import MappingModels
import MigrationJobs
import RunSupport
import Streams

/// Where a load puts its file, and where it works until then: the folder `.<file>.godwit-plain` beside it.
struct PlainPlace {
  /// The path of the file, without links.
  let path: String
  let folder: ScratchFolder
  private let destination: PlainDestination
  private let fileSystem: any FileSystem

  init(_ destination: PlainDestination, _ fileSystem: any FileSystem) throws {
    (self.destination, self.fileSystem) = (destination, fileSystem)
    path = try JobDirectory(destination: destination.path).destination
    folder = ScratchFolder(
      FilePaths.join(FilePaths.directory(of: path), ".\(FilePaths.name(of: path)).godwit-plain"), of: path, fileSystem)
  }

  /// The file of a load that works in a folder; nil if none does.
  static func target(ofFolder folder: String) -> String? {
    let (name, suffix) = (FilePaths.name(of: folder), ".godwit-plain")
    guard name.hasPrefix("."), name.hasSuffix(suffix), name.count > suffix.count + 1 else { return nil }
    return FilePaths.join(FilePaths.directory(of: folder), String(name.dropFirst().dropLast(suffix.count)))
  }

  /// The file while it is made, and the store that is loaded if it was migrated first.
  var file: String { FilePaths.join(folder.path, "plain.sqlite") }
  var migratedStore: String { FilePaths.join(folder.path, "store.sqlite") }
  /// The list of objects that were rejected.
  var rejects: String { path + ".rejects.jsonl" }

  /// Throws `refused` if a file of the result is there already, or cannot be made. Nothing is written.
  func refuseTaken() throws {
    let own = ["", "-wal", "-journal"].map { path + $0 } + [rejects]
    if let records = destination.records { try check(records, own) }
    for name in own + [destination.records].compactMap({ $0 }) where try fileSystem.statusOfName(name) != nil {
      throw BatchError(
        .refused, "the file exists already, and a load replaces nothing", hint: "Choose another name or remove it",
        effect: .nothingWritten, path: name)
    }
  }

  private func check(_ records: String, _ own: [String]) throws {
    guard !own.map(Self.absolute).contains(Self.absolute(records)) else {
      throw BatchError(
        .refused, "the records cannot have the name of the result, or of a file beside it",
        hint: "Choose another name for --records", effect: .nothingWritten, path: records)
    }
    let directory = FilePaths.directory(of: records)
    guard try fileSystem.status(directory)?.isDirectory == true else {
      throw BatchError(
        .refused, "the folder of --records is not there",
        hint: "Make it with `\(ShellWords.line(["mkdir", "-p", directory]))`, or choose another path",
        effect: .nothingWritten, path: records)
    }
    guard access(directory, W_OK | X_OK) == 0 else {
      throw BatchError(
        .refused, "nothing can be written into the folder of --records",
        hint: "Choose another path, or change its mode",
        effect: .nothingWritten, path: records)
    }
  }

  static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }
}
