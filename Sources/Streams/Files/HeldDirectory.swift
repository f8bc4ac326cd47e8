import Glibc

/// A directory that stays the same one when another gets its name. The hold ends with the object.
public final class HeldDirectory: Sendable {
  /// The way to it, for as long as it is held.
  public let path: String
  private let descriptor: Int32?

  /// Takes over an open descriptor; without one the way is the name.
  package init(path: String, descriptor: Int32? = nil) { (self.path, self.descriptor) = (path, descriptor) }

  /// Takes an advisory lock, which others take by this call alone, for as long as the directory is held; false if another
  /// one has it, or nobody can have it here.
  package func lock() -> Bool { descriptor.map { flock($0, LOCK_EX | LOCK_NB) == 0 } ?? false }

  deinit { if let descriptor { _ = Glibc.close(descriptor) } }
}

extension LocalFileSystem {
  /// Keeps hold of a directory. Where /proc is not mounted its name has to do.
  ///
  /// - Throws: ``StreamsError``.
  public func hold(_ path: String) throws -> HeldDirectory {
    let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { throw StreamsError.system(errno, "open the directory", path: path) }
    let held = HeldDirectory(path: "/proc/self/fd/\(descriptor)", descriptor: descriptor)
    return try status(held.path)?.isDirectory == true ? held : HeldDirectory(path: path)
  }
}
