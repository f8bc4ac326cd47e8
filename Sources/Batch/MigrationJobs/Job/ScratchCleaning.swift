import RunSupport
import Streams

extension MigrationJob {
  /// The files on the way to which work is under way in a folder of its own, `.NAME` and `suffix`: those of a directory,
  /// or `path` alone if that is none.
  package func unfinished(at path: String, suffix: String) throws -> [String] {
    let isDirectory = try fileSystem.status(path)?.isDirectory == true
    let directory = try JobDirectory.resolve(isDirectory ? path : FilePaths.directory(of: path))
    let file = isDirectory ? nil : try JobDirectory.resolve(path)
    return try fileSystem.list(directory).compactMap { name in
      guard let target = JobDirectory.destination(ofFolder: FilePaths.join(directory, name), suffix: suffix) else {
        return nil
      }
      return file == nil || file == target ? target : nil
    }
  }

  /// Removes the folder of a load or an import, or says why it stays. Work that a process is at stays.
  ///
  /// - Parameters:
  ///   - judge: what is in the folder, and whether it goes; asked again when nobody else can change it.
  ///   - settle: done under the lease before the folder is removed.
  package func clean(
    _ folder: ScratchFolder, dryRun: Bool, _ report: inout CleanReport,
    judge: () throws -> (reason: String, isUseless: Bool), settle: () throws -> Void = {}
  ) throws {
    func item(_ reason: String) throws -> CleanReport.Item {
      CleanReport.Item(path: folder.path, reason: reason, bytes: try bytes(folder.path))
    }
    if case .live(let owner) = try Lease.inspect(folder.job, fileSystem) {
      let who = owner.map { ", process \($0.pid) on \($0.host)" } ?? ""
      return report.kept.append(try item("\(folder.name) at work\(who)"))
    }
    let found = try judge()
    var removed = try item(found.reason)
    guard found.isUseless else { return report.kept.append(removed) }
    if dryRun {
      removed.files = try files(folder.path)
      return report.removed.append(removed)
    }
    do {
      let lease = try folder.begin()
      defer { lease.release() }
      let again = try judge()
      guard again.isUseless else { return report.kept.append(try item(again.reason)) }
      try settle()
      try folder.remove()
      report.removed.append(removed)
    } catch let error as BatchError where error.code == .leaseHeld {
      // Another one has begun meanwhile.
      report.kept.append(try item("\(folder.name) at work"))
    }
  }
}
