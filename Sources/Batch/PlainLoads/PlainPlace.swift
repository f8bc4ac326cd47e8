import Foundation
import Glibc
import LoadTables
import MappingModels
import MigrationJobs
import RunSupport
import Streams

/// Where a load puts its file, and where it works until then: the folder `.<file>.godwit-plain` beside it.
struct PlainPlace {
  /// With what the name of a folder ends.
  static let suffix = ".godwit-plain"

  /// The path of the file, without links.
  let path: String
  let folder: ScratchFolder
  /// What stays of a load that is done, for its report: beside the file.
  let record: String
  private let destination: PlainDestination
  private let fileSystem: any FileSystem

  init(_ destination: PlainDestination, _ fileSystem: any FileSystem) throws {
    (self.destination, self.fileSystem) = (destination, fileSystem)
    let job = try JobDirectory(destination: destination.path)
    (path, record) = (job.destination, job.record)
    folder = ScratchFolder(
      FilePaths.join(FilePaths.directory(of: path), ".\(FilePaths.name(of: path))\(Self.suffix)"), of: path, fileSystem)
  }

  /// The file while it is made, and the store that is loaded if it was migrated first.
  var file: String { FilePaths.join(folder.path, "plain.sqlite") }
  var migratedStore: String { FilePaths.join(folder.path, "store.sqlite") }
  /// The list of objects that were rejected.
  var rejects: String { path + ".rejects.jsonl" }
  /// What the load gives its name at the end, written down before.
  var publication: String { folder.job.file("publication.json") }

  /// Record types before they get their name: in the folder of that, which may be on another disk.
  static func hidden(_ records: String) -> String {
    FilePaths.join(FilePaths.directory(of: records), ".\(FilePaths.name(of: records)).godwit-new")
  }

  /// Takes back what a process that died had named, and removes what it left. Whoever calls it has the lease.
  func settle() throws {
    try PlainPublication.settle(notedAt: publication, fileSystem)
    if let records = PlainPlan.read(folder.job, fileSystem)?.records {
      let hidden = Self.hidden(records)
      if try fileSystem.statusOfName(hidden)?.isRegularFile == true { try fileSystem.remove(hidden) }
    }
    try folder.empty()
    try fileSystem.remove(folder.job.plan)
  }

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
