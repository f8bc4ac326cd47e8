import Glibc
import RunSupport
import Streams

/// A folder for a load or an import while it is under way, with a job directory of its own. Who has its lease may write
/// there.
package struct ScratchFolder: Sendable {
  package let path: String
  /// The lease, and what a running load says of itself.
  package let job: JobDirectory
  /// What it is for: "load", "import".
  package let name: String
  private let fileSystem: any FileSystem

  /// Names the folder; `subject` is what the work is about, and `name` what it is. Nothing is made.
  package init(_ path: String, for name: String = "load", of subject: String, _ fileSystem: any FileSystem) {
    (self.path, self.fileSystem, self.name) = (path, fileSystem, name)
    job = JobDirectory(named: name, in: path, of: subject)
  }

  /// Whether the folder is there. Throws `refused` for something that is not this user's folder.
  package func isThere() throws -> Bool {
    guard let status = try fileSystem.statusOfName(path) else { return false }
    guard status.isDirectory, status.owner == geteuid() else {
      throw BatchError(
        .refused, "something that is not this user's folder is in the place of the \(name)'s",
        hint: "Look at it, and remove it", path: path)
    }
    return true
  }

  /// What a look at the folder finds: the process at work may remove it at any moment, which is no error. Nil when it is
  /// not there, or has gone since.
  package func seen<Found>(_ look: () throws -> Found?) throws -> Found? {
    guard try isThere() else { return nil }
    let found = Result { try look() }
    return try isThere() ? found.get() : nil
  }

  /// Makes the folder and takes its lease. Throws `leaseHeld`.
  package func begin() throws -> Lease {
    var attempt = 0
    while true {
      do {
        try fileSystem.makeDirectory(path)
        try fileSystem.makeDirectory(job.path)
        return try Lease.take(in: job, fileSystem)
      } catch let error as StreamsError where error.code == .inputOutput && attempt < 20 {
        // Another process that gives its load up takes the folders along.
        attempt += 1
        usleep(10_000)
      }
    }
  }

  /// Throws `refused` when a symbolic link lies in the folder: what is written through it would be elsewhere.
  package func refuseLinks() throws {
    for folder in [path, job.path] { try JobDirectory.refuseLinks(in: folder, fileSystem) }
  }

  /// Removes what another load left.
  package func empty() throws { try empty(path, depth: 6, but: [job.path]) }

  /// Removes the folder.
  package func remove() throws {
    // Without its plan nobody takes what a crash leaves for work that can go on.
    try fileSystem.remove(job.plan)
    try fileSystem.syncDirectory(job.path)
    try removeFinished()
  }

  /// Removes the folder of work that is over. Its plan says that, and goes when all else is gone.
  package func removeFinished() throws {
    try empty()
    try empty(job.path, depth: 6, but: [job.lease, job.plan])
    try fileSystem.remove(job.plan)
    // Behind the lease another process may begin a load, and keeps the folders.
    try fileSystem.remove(job.lease)
    for folder in [job.path, path] { try removeIfEmpty(folder) }
    try fileSystem.syncDirectory(FilePaths.directory(of: path))
  }

  private func removeIfEmpty(_ folder: String) throws {
    do { try fileSystem.removeDirectory(folder) } catch let error as StreamsError {
      guard try !fileSystem.list(folder).isEmpty else { throw error }
    }
  }

  private func empty(_ folder: String, depth: Int, but kept: [String] = []) throws {
    guard depth > 0 else {
      throw BatchError(.refused, "folders are nested deeper than any \(name) makes them", path: folder)
    }
    for name in try fileSystem.list(folder) {
      let inner = FilePaths.join(folder, name)
      guard !kept.contains(inner) else { continue }
      if try fileSystem.statusOfName(inner)?.isDirectory == true {
        try empty(inner, depth: depth - 1)
      } else {
        try fileSystem.remove(inner)
      }
    }
    if kept.isEmpty { try fileSystem.removeDirectory(folder) }
  }
}
