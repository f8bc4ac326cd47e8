import RunSupport
import Streams

// The files of a run whose owner, on another machine, was replaced. That owner may continue at any time, and it has
// files open: so its successor works on copies with names of their own. What the old owner writes then is read by
// nobody.
extension JobDirectory {
  /// Says that the copies of this generation are whole.
  private var copied: String { FilePaths.join(checkpoints, "copied.\(generation)") }

  /// Copies the working files of the generation before, unless that was done, and removes them. Durable on return.
  ///
  /// They are copied whole: what lies beyond the checkpoint may be torn, and is cut off by whoever resumes from it.
  func copyWorkingFiles(_ fileSystem: any FileSystem, _ monitor: RunMonitor) throws {
    guard generation > 1, try fileSystem.status(copied) == nil else { return }
    let prefix = FilePaths.name(of: preceding.working("step-"))
    let names = try fileSystem.list(path).filter { $0.hasPrefix(prefix) }
    for name in names {
      let file = try fileSystem.open(self.file(name), .read)
      defer { file.close() }
      try StoreCopy(fileSystem: fileSystem, monitor: monitor).copy(
        file, to: working("step-" + name.dropFirst(prefix.count)))
    }
    try fileSystem.syncDirectory(path)
    try fileSystem.writeDurably([], to: copied)
    for name in names { try fileSystem.remove(file(name)) }
  }
}
