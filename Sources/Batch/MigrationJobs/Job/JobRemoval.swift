import Glibc
import RunSupport
import Streams

// What only the holder of the lease may do: remove the directory.
extension JobDirectory {
  /// Removes the directory that the lease was taken in, with everything in it. A symbolic link inside is removed, not
  /// followed. Throws `leaseHeld`, and removes nothing, where another process has the lease by now.
  ///
  /// The plan goes first, durably, for without it nobody takes what a crash leaves for a run that can be resumed. The
  /// journal of the cut-over goes after all else but the checkpoints and the lease: while it is there, whoever comes
  /// next sees a finished job and not a new one. The lease goes last: until then nobody else has the directory, and who
  /// takes it then finds an empty one.
  func remove(_ fileSystem: any FileSystem, under lease: Lease) throws {
    guard try exists(fileSystem) else { return }
    try lease.withoutSuccessor { try empty($0, fileSystem) }
    try fileSystem.syncDirectory(FilePaths.directory(of: path))
  }

  /// Empties the directory that `held` leads to, and removes it if it still has its name. Trap 12: by then another
  /// run's may have it.
  func empty(_ held: String, _ fileSystem: any FileSystem) throws {
    var own = self
    own.path = held
    if try fileSystem.statusOfName(own.plan) != nil {
      try fileSystem.remove(own.plan)
      try fileSystem.syncDirectory(held)
    }
    try empty(held, depth: 8, fileSystem)
    let (left, named) = (try fileSystem.status(held), try fileSystem.statusOfName(path))
    guard left?.device == named?.device, left?.inode == named?.inode else { return }
    do { try fileSystem.removeDirectory(path) } catch {
      // Behind the lease another process may have begun a run here: it keeps the directory.
      guard try fileSystem.statusOfName(path) != nil, try fileSystem.listIfThere(path).isEmpty else { return }
      throw error
    }
  }

  private func empty(_ path: String, depth: Int, _ fileSystem: any FileSystem) throws {
    guard depth > 0 else {
      throw BatchError(.refused, "directories are nested deeper than any run makes them", path: path)
    }
    // The folder of checkpoints has the generation in its name, by which the journal is found.
    let last = [FilePaths.name(of: cutOver), FilePaths.name(of: checkpoints), FilePaths.name(of: lease)]
    func rank(_ name: String) -> Int { last.firstIndex(of: name) ?? -1 }
    for name in try fileSystem.list(path).sorted(by: { rank($0) < rank($1) }) {
      let inner = FilePaths.join(path, name)
      if try fileSystem.statusOfName(inner)?.isDirectory == true {
        try empty(inner, depth: depth - 1, fileSystem)
        try fileSystem.removeDirectory(inner)
      } else {
        try fileSystem.remove(inner)
      }
    }
  }
}
