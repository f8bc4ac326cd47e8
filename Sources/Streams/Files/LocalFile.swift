import Glibc
import Synchronization

/// A file of the machine's own file system.
///
/// Reads and writes may run at the same time on several threads; ``close()`` must come after all of them.
public final class LocalFile: File {
  /// The path it was opened by.
  public let path: String
  private let descriptor: Atomic<Int32>
  private let hasLocks = Atomic<Bool>(false)

  /// Takes over an open descriptor.
  init(path: String, descriptor: Int32) {
    self.path = path
    self.descriptor = Atomic(descriptor)
  }

  deinit { close() }

  /// Fills the buffer from `offset`; returns the bytes read, fewer only at the end of the file.
  ///
  /// - Throws: ``StreamsError``.
  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
    guard let start = buffer.baseAddress else { return 0 }
    var done = 0
    while done < buffer.count {
      let position = try filePosition(offset, plus: done)
      let count = pread(try open(), start + done, buffer.count - done, position)
      if count > 0 {
        done += count
      } else if count == 0 {
        break
      } else if errno != EINTR {
        throw StreamsError.system(errno, "read", path: path)
      }
    }
    return done
  }

  /// Writes all bytes at `offset`. Not durable before ``sync()``.
  ///
  /// - Throws: ``StreamsError``.
  public func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
    guard let start = bytes.baseAddress else { return }
    var done = 0
    while done < bytes.count {
      let position = try filePosition(offset, plus: done)
      let count = pwrite(try open(), start + done, bytes.count - done, position)
      if count > 0 {
        done += count
      } else if count == 0 {
        // POSIX leaves a write of nothing unexplained; to continue would be an endless loop.
        throw StreamsError.system(ENOSPC, "write", path: path)
      } else if errno != EINTR {
        throw StreamsError.system(errno, "write", path: path)
      }
    }
  }

  /// Asks for bytes that were written to go to the disk soon. ``sync()`` reports a failure.
  public func beginSync(at offset: UInt64, length: Int) {
    guard let descriptor = try? open(), let position = Int64(exactly: offset) else { return }
    _ = Self.syncFileRange?(descriptor, position, Int64(length), Self.writeOut)
  }

  /// Sets the time of the last change to now.
  public func touch() {
    if let descriptor = try? open() { _ = futimens(descriptor, nil) }
  }

  /// Makes everything written so far durable, with the file's length.
  ///
  /// Never repeated after a failure: Linux reports a lost write once and marks the page clean, so a second call that
  /// succeeds proves nothing (I10).
  ///
  /// - Throws: ``StreamsError``.
  public func sync() throws {
    while fdatasync(try open()) != 0 {
      guard errno == EINTR else { throw StreamsError.system(errno, "sync", path: path) }
    }
  }

  /// Sets the length in bytes.
  ///
  /// - Throws: ``StreamsError``.
  public func truncate(to length: UInt64) throws {
    let length = try filePosition(length, plus: 0)
    while ftruncate(try open(), length) != 0 {
      guard errno == EINTR else { throw StreamsError.system(errno, "set the length", path: path) }
    }
  }

  /// The length in bytes.
  ///
  /// - Throws: ``StreamsError``.
  public func size() throws -> UInt64 {
    var status = stat()
    guard fstat(try open(), &status) == 0 else { throw StreamsError.system(errno, "look at", path: path) }
    return UInt64(max(0, status.st_size))
  }

  /// Takes a lock of the *open file description*, so that it conflicts with SQLite's locks in this and in other
  /// processes, but does not vanish when another descriptor of the same file is closed.
  ///
  /// - Throws: ``StreamsError``.
  public func lock(_ kind: LockKind, start: UInt64, length: UInt64) throws -> Bool {
    var request = try Self.request(kind, start: start, length: length, path: path)
    hasLocks.store(true, ordering: .relaxed)
    while fcntl(try open(), Self.setLock, &request) != 0 {
      switch errno {
      case EINTR: continue
      case EAGAIN, EACCES: return false
      default: throw StreamsError.system(errno, "lock", path: path)
      }
    }
    return true
  }

  /// Asks the kernel without taking the lock, so that asking disturbs nobody.
  ///
  /// - Throws: ``StreamsError``.
  public func isExcluded(_ kind: LockKind, start: UInt64, length: UInt64) throws -> Bool {
    var request = try Self.request(kind, start: start, length: length, path: path)
    while fcntl(try open(), Self.getLock, &request) != 0 {
      guard errno == EINTR else { throw StreamsError.system(errno, "ask for locks of", path: path) }
    }
    return request.l_type != Int16(F_UNLCK)
  }

  /// Closes the file; its locks end with it. Further calls fail.
  public func close() {
    let last = descriptor.exchange(-1, ordering: .sequentiallyConsistent)
    // A process that was forked just now and has not begun its program yet holds a copy of the descriptor, and the
    // locks with it.
    if last >= 0, hasLocks.load(ordering: .relaxed), var all = try? Self.request(.none, start: 0, length: 0, path: path)
    {
      _ = fcntl(last, Self.setLock, &all)
    }
    // Not repeated on EINTR: on Linux the descriptor is gone by then, and its number may be another file's.
    if last >= 0 { _ = Glibc.close(last) }
  }

  /// The owner, group and permission bits of another file, as far as this user may set them; durable on return.
  func adopt(_ status: FileStatus) throws {
    let descriptor = try open()
    var bits = status.mode & 0o7777
    // Giving a file away needs privileges; without them the file stays this user's and must not be set-user-id.
    if fchown(descriptor, status.owner, status.group) != 0 {
      if fchown(descriptor, uid_t.max, status.group) != 0 { bits &= 0o777 }
      bits &= ~0o4000
    }
    guard fchmod(descriptor, bits) == 0 else { throw StreamsError.system(errno, "set permissions", path: path) }
    while fsync(descriptor) != 0 {
      guard errno == EINTR else { throw StreamsError.system(errno, "sync", path: path) }
    }
  }

  private func open() throws -> Int32 {
    let current = descriptor.load(ordering: .relaxed)
    guard current >= 0 else { throw StreamsError(.inputOutput, "the file is closed", path: path) }
    return current
  }

  private func filePosition(_ offset: UInt64, plus done: Int) throws -> Int {
    let (sum, overflow) = offset.addingReportingOverflow(UInt64(done))
    guard !overflow, let position = Int(exactly: sum) else {
      throw StreamsError(.inputOutput, "position \(offset) is past what a file can hold", path: path)
    }
    return position
  }
}

extension LocalFile {
  /// F_OFD_GETLK and F_OFD_SETLK of Linux, fcntl(2); the headers hide them from Swift.
  private static var getLock: Int32 { 36 }
  private static var setLock: Int32 { 37 }

  /// sync_file_range(2), hidden as well, and its SYNC_FILE_RANGE_WRITE, which takes no error away from fdatasync(2).
  private static let syncFileRange = dlsym(nil, "sync_file_range").map {
    unsafeBitCast($0, to: (@convention(c) (Int32, Int64, Int64, UInt32) -> Int32).self)
  }
  private static var writeOut: UInt32 { 2 }

  private static func request(_ kind: LockKind, start: UInt64, length: UInt64, path: String) throws -> Glibc.flock {
    guard let start = Int(exactly: start), let length = Int(exactly: length) else {
      throw StreamsError(.inputOutput, "the range to lock is past what a file can hold", path: path)
    }
    var request = Glibc.flock()
    request.l_type =
      switch kind {
      case .shared: Int16(F_RDLCK)
      case .exclusive: Int16(F_WRLCK)
      case .none: Int16(F_UNLCK)
      }
    request.l_whence = Int16(SEEK_SET)
    request.l_start = start
    request.l_len = length
    // The kernel demands 0 here for locks of an open file description.
    request.l_pid = 0
    return request
  }
}
