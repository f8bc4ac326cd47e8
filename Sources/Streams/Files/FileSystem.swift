/// The disk as the engine sees it: every durable write goes through this, so that tests can lose, tear and refuse
/// writes.
///
/// All calls throw ``StreamsError`` with the code `inputOutput`, `diskFull` or `locked` and the path concerned.
public protocol FileSystem: Sendable {
  /// Opens a file. A file that is created gets mode 0600.
  func open(_ path: String, _ mode: OpenMode) throws -> any File
  /// Replaces `destination` by `source` in one step. Durable only after ``syncDirectory(_:)``.
  func rename(_ source: String, to destination: String) throws
  /// Gives each of two files the other one's name, in one step. Durable only after ``syncDirectory(_:)``. The code is
  /// `unsupported` where the file system cannot.
  func exchange(_ path: String, with other: String) throws
  /// Gives the file a second name. Fails when `destination` exists.
  func link(_ source: String, to destination: String) throws
  /// Removes a file; a missing one is not an error.
  func remove(_ path: String) throws
  /// Makes a directory with mode 0700; an existing one is not an error.
  func makeDirectory(_ path: String) throws
  /// The names in a directory, sorted.
  func list(_ path: String) throws -> [String]
  /// Size, times and identity of a file, or nil when there is none.
  func status(_ path: String) throws -> FileStatus?
  /// Makes names that were created, renamed or removed in a directory durable.
  func syncDirectory(_ path: String) throws
  /// Bytes that an unprivileged user may still write on the file system that holds `path`.
  func availableSpace(_ path: String) throws -> UInt64
  /// Size, times and identity of the name itself: a symbolic link is not followed.
  func statusOfName(_ path: String) throws -> FileStatus?
  /// Gives a file the owner, group and permission bits of another, as far as this user may; durable on return.
  func adopt(_ status: FileStatus, on path: String) throws
  /// Gives a file the extended attributes of another, those of users and access lists; durable on return.
  func adoptAttributes(of original: String, on path: String) throws
  /// Removes an empty directory; a missing one is not an error.
  func removeDirectory(_ path: String) throws
  /// Keeps hold of a directory, so that its files are reached whatever its name leads to later. A symbolic link is
  /// refused.
  func hold(_ path: String) throws -> HeldDirectory
}

/// What a file system that only counts, delays or refuses may leave to the machine's own.
extension FileSystem {
  /// Cannot: whoever asks renames instead.
  ///
  /// - Throws: ``StreamsError``.
  public func exchange(_ path: String, with other: String) throws {
    throw StreamsError(.unsupported, "names cannot be exchanged here", path: path)
  }
  /// Size, times and identity of the name itself.
  ///
  /// - Throws: ``StreamsError``.
  public func statusOfName(_ path: String) throws -> FileStatus? { try LocalFileSystem().statusOfName(path) }
  /// Gives a file the owner, group and permission bits of another.
  ///
  /// - Throws: ``StreamsError``.
  public func adopt(_ status: FileStatus, on path: String) throws { try LocalFileSystem().adopt(status, on: path) }
  /// Gives a file the extended attributes of another.
  ///
  /// - Throws: ``StreamsError``.
  public func adoptAttributes(of original: String, on path: String) throws {
    try LocalFileSystem().adoptAttributes(of: original, on: path)
  }
  /// Removes an empty directory.
  ///
  /// - Throws: ``StreamsError``.
  public func removeDirectory(_ path: String) throws { try LocalFileSystem().removeDirectory(path) }
  /// Keeps hold of a directory.
  ///
  /// - Throws: ``StreamsError``.
  public func hold(_ path: String) throws -> HeldDirectory { try LocalFileSystem().hold(path) }
}

/// How a file is opened.
public enum OpenMode: Sendable {
  /// For reading; the file must exist.
  case read
  /// For reading and writing; the file must exist.
  case update
  /// For reading and writing; created when missing, emptied when not.
  case create
  /// For reading and writing; created when missing, kept when not.
  case updateOrCreate
}

/// Size, times and identity of a file.
public struct FileStatus: Sendable, Hashable {
  /// Bytes.
  public var size: UInt64
  /// Last change of the contents, nanoseconds since 1970.
  public var modified: Int64
  /// Device and inode: what distinguishes one file from another.
  public var device: UInt64
  /// The inode number on that device.
  public var inode: UInt64
  /// Permission bits and file type as in `st_mode`.
  public var mode: UInt32
  /// Numeric owner.
  public var owner: UInt32
  /// Numeric group.
  public var group: UInt32
  /// True for a directory.
  public var isDirectory: Bool
}

extension FileStatus {
  /// The status of a file that is on no disk: of that size, and nobody's.
  public init(size: UInt64) {
    (self.size, modified, device, inode, mode, owner, group, isDirectory) = (size, 0, 0, 0, 0o600, 0, 0, false)
  }
}

/// An open file. Positions are given with every call; a file has no cursor.
public protocol File: AnyObject, Sendable {
  /// The path it was opened by.
  var path: String { get }
  /// Fills the buffer from `offset`; returns the bytes read, fewer only at the end of the file.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int
  /// Writes all bytes at `offset`. Not durable before ``sync()``.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws
  /// Asks for bytes that were written to go to the disk soon, without waiting: the next ``sync()`` has less to do.
  /// Promises nothing.
  func beginSync(at offset: UInt64, length: Int)
  /// Sets the time of the last change to now: a sign of life. Promises nothing.
  func touch()
  /// Makes everything written so far durable, with the file's length.
  func sync() throws
  /// Sets the length in bytes.
  func truncate(to length: UInt64) throws
  /// The length in bytes.
  func size() throws -> UInt64
  /// Takes an advisory lock on a range of bytes for this open file, without waiting; false when another holder excludes
  /// it.
  func lock(_ kind: LockKind, start: UInt64, length: UInt64) throws -> Bool
  /// Whether another holder would exclude such a lock. Nothing is taken and nothing changes.
  func isExcluded(_ kind: LockKind, start: UInt64, length: UInt64) throws -> Bool
  /// Closes the file; its locks end with it. Further calls fail.
  func close()
}

extension FileSystem {
  /// Opens a scratch file, whose name is removed at once: nothing is left of it however the process ends.
  package func openScratch(_ path: String) throws -> any File {
    let file = try open(path, .create)
    try remove(path)
    return file
  }
}

extension StreamsError {
  /// A scratch file has other bytes than those that were written to it.
  static func damagedScratch(_ path: String? = nil) -> StreamsError {
    StreamsError(.inputOutput, "a scratch file does not hold what was written to it", path: path)
  }
}

extension File {
  /// Gives no sign.
  public func touch() {}

  /// Leaves all to ``sync()``.
  public func beginSync(at offset: UInt64, length: Int) {}

  /// Asks by taking the lock and giving it back, for a file that cannot ask otherwise and holds no lock there itself.
  ///
  /// - Throws: ``StreamsError``.
  public func isExcluded(_ kind: LockKind, start: UInt64, length: UInt64) throws -> Bool {
    guard try lock(kind, start: start, length: length) else { return true }
    _ = try lock(.none, start: start, length: length)
    return false
  }
}

/// Kinds of advisory lock.
public enum LockKind: Sendable {
  /// Excludes exclusive locks.
  case shared
  /// Excludes every other lock.
  case exclusive
  /// Gives the range back.
  case none
}
