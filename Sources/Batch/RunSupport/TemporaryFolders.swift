import Foundation
import Glibc
import Streams
import Synchronization

/// Folders in the temporary directory. A process locks the folder that it works in; so the next one can tell which were
/// left by processes that were killed, and removes them.
package enum TemporaryFolders {
  private static let held = Mutex<[String: HeldDirectory]>([:])
  private static let isSwept = Atomic(false)
  private static let prefix = "godwit-"
  /// The end of the names of folders that are locked, and of no others. Another machine that shares the directory may not
  /// see the locks of this one.
  static let ending =
    "-on-" + ProcessInfo.processInfo.hostName.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
  /// Seconds in which whoever makes a folder has locked it.
  private static let leastAge: Int64 = 60

  /// Makes a folder, which is there until it is removed and forgotten. It is locked: if the process is killed, the next one
  /// that makes such a folder removes it, as this one removes those of others first. `purpose` is a part of its name.
  ///
  /// Throws `stopped` if the process is being ended.
  package static func make(_ purpose: String, in fileSystem: any FileSystem) throws -> String {
    let plain = UnfinishedFiles.temporaryPath(purpose)
    if fileSystem is LocalFileSystem {
      sweep(FilePaths.directory(of: plain))
      if try makeLocked(plain + ending) { return plain + ending }
    }
    try UnfinishedFiles.addFolder(plain, in: fileSystem)
    return plain
  }

  /// Makes a folder and locks it; false, and nothing is there, if nobody can lock it.
  private static func makeLocked(_ path: String) throws -> Bool {
    let disk = LocalFileSystem()
    try UnfinishedFiles.addFolder(path, in: disk)
    if let directory = try? disk.hold(path), directory.lock() {
      held.withLock { $0[path] = directory }
      return true
    }
    // A signal that ends the process may have removed it.
    try? disk.removeDirectory(path)
    UnfinishedFiles.forget(path)
    return false
  }

  /// Gives a folder of this process another name, by which the next process knows it, too; nil if it is no such folder.
  static func takeAway(_ path: String) -> String? {
    guard path.hasSuffix(ending), FilePaths.name(of: path).hasPrefix(prefix) else { return nil }
    let other = FilePaths.join(FilePaths.directory(of: path), "\(prefix)ended-\(UUID().uuidString)\(ending)")
    return (try? LocalFileSystem().rename(path, to: other)) != nil ? other : nil
  }

  static func release(_ path: String) { _ = held.withLock { $0.removeValue(forKey: path) } }

  /// Removes this user's folders without a lock, once in a process.
  private static func sweep(_ directory: String) {
    guard !isSwept.exchange(true, ordering: .relaxed) else { return }
    let names = (try? LocalFileSystem().list(directory)) ?? []
    for name in names where name.hasPrefix(prefix) && name.hasSuffix(ending) {
      removeIfLeft(FilePaths.join(directory, name))
    }
  }

  /// What is in the folder is reached by way of the folder that was locked, whatever its name leads to meanwhile.
  private static func removeIfLeft(_ path: String) {
    let disk = LocalFileSystem()
    guard let folder = try? disk.hold(path), let status = try? disk.status(folder.path), status.owner == geteuid(),
      status.modified / 1_000_000_000 + leastAge < Int64(time(nil)), folder.lock()
    else { return }
    for name in (try? disk.list(folder.path)) ?? [] { UnfinishedFiles.remove(FilePaths.join(folder.path, name), disk) }
    try? disk.removeDirectory(path)
  }
}
