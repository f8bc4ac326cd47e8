import Glibc

/// The machine's own file system.
public struct LocalFileSystem: FileSystem {
  /// Makes one; it has no state.
  public init() {}

  /// Opens a regular file. A file that is created gets mode 0600, and a symbolic link in its place is refused.
  ///
  /// - Throws: ``StreamsError``.
  public func open(_ path: String, _ mode: OpenMode) throws -> any File {
    // O_NONBLOCK only so that a pipe in the file's place cannot make the call wait for ever.
    var flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK
    switch mode {
    case .read: flags |= O_RDONLY
    case .update: flags |= O_RDWR
    case .create: flags |= O_RDWR | O_CREAT | O_NOFOLLOW
    case .updateOrCreate: flags |= O_RDWR | O_CREAT | O_NOFOLLOW
    }
    let descriptor = try retry("open", path: path) { Self.open(path, flags) }
    let file = LocalFile(path: path, descriptor: descriptor)
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw StreamsError.system(errno, "look at", path: path) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw StreamsError(.inputOutput, "not a regular file", path: path)
    }
    // Emptied only now that it is known to be a file.
    if case .create = mode, status.st_size != 0 { try file.truncate(to: 0) }
    return file
  }

  /// O_NOATIME, which the headers hide from Swift.
  private static let noAccessTime: Int32 = 0o1_000_000

  /// A process that asks who writes to a file keeps it for an instant; this one does not wait for that by itself.
  private static func open(_ path: String, _ flags: Int32) -> Int32 {
    // What is only read keeps its time of access, too; a store is locked for writing by those who read it. Only the
    // owner of a file may ask for that.
    if flags & O_CREAT == 0 {
      let descriptor = Glibc.open(path, flags | noAccessTime)
      if descriptor >= 0 || errno != EPERM { return descriptor }
    }
    for _ in 0..<100 {
      let descriptor = Glibc.open(path, flags, 0o600)
      guard descriptor < 0, errno == EWOULDBLOCK else { return descriptor }
      usleep(1000)
    }
    return Glibc.open(path, flags, 0o600)
  }

  /// Replaces `destination` by `source` in one step. Durable only after ``syncDirectory(_:)``.
  ///
  /// - Throws: ``StreamsError``.
  public func rename(_ source: String, to destination: String) throws {
    _ = try retry("rename to \(destination)", path: source) { Glibc.rename(source, destination) }
  }

  /// Gives each of two files the other one's name, by renameat2(2), which the headers hide from Swift.
  ///
  /// - Throws: ``StreamsError``.
  public func exchange(_ path: String, with other: String) throws {
    guard let renameat2 = Self.renameat2 else {
      throw StreamsError(.unsupported, "names cannot be exchanged here", path: path)
    }
    guard renameat2(AT_FDCWD, path, AT_FDCWD, other, Self.renameExchange) != 0 else { return }
    let number = errno
    var failure = StreamsError.system(number, "exchange the name with \(other)", path: path)
    if [EINVAL, ENOSYS, EOPNOTSUPP].contains(number) { failure.code = .unsupported }
    throw failure
  }

  private static let renameat2 = dlsym(nil, "renameat2").map {
    unsafeBitCast(
      $0, to: (@convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32).self)
  }
  /// RENAME_EXCHANGE.
  private static var renameExchange: UInt32 { 2 }

  /// Gives the file a second name; fails when `destination` exists.
  ///
  /// The code is `unsupported` when the file system cannot do it, so that a caller may copy instead.
  ///
  /// - Throws: ``StreamsError``.
  public func link(_ source: String, to destination: String) throws {
    guard Glibc.link(source, destination) != 0 else { return }
    let number = errno
    var failure = StreamsError.system(number, "link to \(destination)", path: source)
    if [EXDEV, EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(number) { failure.code = .unsupported }
    throw failure
  }

  /// Removes a file; a missing one is not an error.
  ///
  /// - Throws: ``StreamsError``.
  public func remove(_ path: String) throws {
    guard unlink(path) != 0, errno != ENOENT else { return }
    throw StreamsError.system(errno, "remove", path: path)
  }

  /// Makes a directory with mode 0700; an existing one is not an error, a symbolic link to one is.
  ///
  /// - Throws: ``StreamsError``.
  public func makeDirectory(_ path: String) throws {
    guard mkdir(path, 0o700) != 0 else { return }
    guard errno == EEXIST else { throw StreamsError.system(errno, "make the directory", path: path) }
    var status = stat()
    guard lstat(path, &status) == 0 else { throw StreamsError.system(errno, "look at", path: path) }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: return
    case S_IFLNK: throw StreamsError.system(ELOOP, "make the directory", path: path)
    default: throw StreamsError.system(ENOTDIR, "make the directory", path: path)
    }
  }

  /// Removes an empty directory; a missing one is not an error.
  ///
  /// - Throws: ``StreamsError``.
  public func removeDirectory(_ path: String) throws {
    guard rmdir(path) != 0, errno != ENOENT else { return }
    throw StreamsError.system(errno, "remove the directory", path: path)
  }

  /// The names in a directory, sorted by their bytes.
  ///
  /// - Throws: ``StreamsError``.
  public func list(_ path: String) throws -> [String] {
    guard let directory = opendir(path) else { throw StreamsError.system(errno, "list", path: path) }
    defer { closedir(directory) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(directory) else { break }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != ".", name != ".." { names.append(name) }
    }
    guard errno == 0 else { throw StreamsError.system(errno, "list", path: path) }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Size, times and identity of a file, or nil when there is none. A symbolic link is followed.
  ///
  /// - Throws: ``StreamsError``.
  public func status(_ path: String) throws -> FileStatus? {
    var status = stat()
    guard stat(path, &status) == 0 else { return try Self.missing(path) }
    return FileStatus(status)
  }

  /// The same for the name itself: a symbolic link is not followed.
  ///
  /// - Throws: ``StreamsError``.
  public func statusOfName(_ path: String) throws -> FileStatus? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return try Self.missing(path) }
    return FileStatus(status)
  }

  /// Makes names that were created, renamed or removed in a directory durable.
  ///
  /// - Throws: ``StreamsError``.
  public func syncDirectory(_ path: String) throws {
    let descriptor = try retry("open the directory", path: path) {
      Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }
    defer { _ = Glibc.close(descriptor) }
    _ = try retry("sync the directory", path: path) { fsync(descriptor) }
  }

  /// Bytes that an unprivileged user may still write on the file system that holds `path`.
  ///
  /// - Throws: ``StreamsError``.
  public func availableSpace(_ path: String) throws -> UInt64 {
    var status = statvfs()
    _ = try retry("ask for the space of", path: path) { statvfs(path, &status) }
    let (bytes, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return overflow ? .max : bytes
  }

  /// Gives a file the owner, group and permission bits of another; durable on return.
  ///
  /// - Throws: ``StreamsError``.
  public func adopt(_ status: FileStatus, on path: String) throws {
    guard let file = try open(path, .update) as? LocalFile else { return }
    defer { file.close() }
    try file.adopt(status)
  }

  /// Gives a file the extended attributes of another: those of users, and its access list; durable on return.
  ///
  /// - Throws: ``StreamsError``.
  public func adoptAttributes(of original: String, on path: String) throws {
    let names = try ExtendedAttributes.names(original)
    guard !names.isEmpty else { return }
    for name in names { try ExtendedAttributes.copy(name, from: original, to: path) }
    let file = try open(path, .update)
    defer { file.close() }
    try file.sync()
  }

  private func retry(_ action: String, path: String, call: () -> Int32) throws -> Int32 {
    while true {
      let result = call()
      if result >= 0 { return result }
      guard errno == EINTR else { throw StreamsError.system(errno, action, path: path) }
    }
  }

  /// Nil when the name does not exist. Everything else is an error: "cannot look" must never be taken for "none".
  private static func missing(_ path: String) throws -> FileStatus? {
    guard errno == ENOENT || errno == ENOTDIR else { throw StreamsError.system(errno, "look at", path: path) }
    return nil
  }
}

extension FileStatus {
  init(_ status: stat) {
    let (seconds, overflow) = Int64(status.st_mtim.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
    self.init(
      size: UInt64(max(0, status.st_size)),
      modified: overflow ? .max : seconds &+ Int64(status.st_mtim.tv_nsec),
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino), mode: status.st_mode,
      owner: status.st_uid, group: status.st_gid, isDirectory: status.st_mode & S_IFMT == S_IFDIR)
  }

  /// True for a symbolic link; only a status of the name itself can be one.
  public var isSymbolicLink: Bool { mode & S_IFMT == S_IFLNK }

  /// True for a plain file.
  public var isRegularFile: Bool { mode & S_IFMT == S_IFREG }
}
