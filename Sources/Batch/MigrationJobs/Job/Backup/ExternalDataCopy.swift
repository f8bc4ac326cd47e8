import CoreDataStore
import RunSupport
import Streams

/// Takes a store's folder of external data along to a destination elsewhere: by hard links, or by copies on another
/// file system.
///
/// Core Data never changes such a file: a new value gets a new name. So source and destination can share them.
struct ExternalDataCopy {
  let fileSystem: any FileSystem
  /// Who may ask to stop between two files or pieces of them; nil if it must come to its end.
  var monitor: RunMonitor?
  private static let greatestDepth = 4
  private static let chunk = 1 << 20

  /// Whether the store has such a folder.
  static func exists(for store: String, _ fileSystem: any FileSystem) throws -> Bool {
    try fileSystem.status(ExternalDataFolder(store: store).path) != nil
  }

  /// Bytes that a copy takes on another file system.
  func bytes(of store: String) throws -> UInt64 { try bytes(ExternalDataFolder(store: store).path, depth: 0) }

  private func bytes(_ path: String, depth: Int) throws -> UInt64 {
    guard depth <= Self.greatestDepth, let status = try fileSystem.status(path) else { return 0 }
    guard status.isDirectory else { return status.size }
    return try fileSystem.list(path).reduce(0) { try $0 + bytes(FilePaths.join(path, $1), depth: depth + 1) }
  }

  /// Removes a store's folder with everything in it, if there is one. A symbolic link inside is removed, not followed.
  func remove(from store: String) throws {
    let path = ExternalDataFolder(store: store).path
    guard try fileSystem.statusOfName(path)?.isDirectory == true else { return }
    try remove(folder: path, depth: 0)
    try fileSystem.syncDirectory(FilePaths.directory(of: path))
  }

  private func remove(folder: String, depth: Int) throws {
    guard depth <= Self.greatestDepth else { throw Self.tooDeep(folder) }
    for name in try fileSystem.list(folder) {
      let path = FilePaths.join(folder, name)
      if try fileSystem.statusOfName(path)?.isDirectory == true {
        try remove(folder: path, depth: depth + 1)
      } else {
        try fileSystem.remove(path)
      }
    }
    try fileSystem.removeDirectory(folder)
  }

  private static func tooDeep(_ path: String) -> BatchError {
    BatchError(.refused, "folders of external data are nested too deeply", path: path)
  }

  /// Takes everything along; durable on return. What an interrupted call left is used. Symbolic links are followed:
  /// people keep large files, or the whole folder, on another disk. `mayFollow`: a link in the place of the
  /// destination's folder is its folder, too. `isOwn`: what is in the destination's folder is the run's own, and a file
  /// that is not the source's is taken again.
  func take(from source: String, to destination: String, mayFollow: Bool = false, isOwn: Bool = false) throws {
    let (old, new) = (ExternalDataFolder(store: source).path, ExternalDataFolder(store: destination).path)
    guard try fileSystem.status(old) != nil else { return }
    try take(folder: old, to: new, depth: 0, mayFollow: mayFollow, isOwn: isOwn)
    try fileSystem.syncDirectory(FilePaths.directory(of: new))
  }

  private func take(folder: String, to target: String, depth: Int, mayFollow: Bool, isOwn: Bool) throws {
    guard depth <= Self.greatestDepth else { throw Self.tooDeep(folder) }
    let isLink = try fileSystem.statusOfName(target)?.isSymbolicLink == true
    if try !mayFollow || !isLink || fileSystem.status(target)?.isDirectory != true {
      try fileSystem.makeDirectory(target)
    }
    for name in try fileSystem.list(folder) {
      let (from, to) = (FilePaths.join(folder, name), FilePaths.join(target, name))
      // A link that leads nowhere is a file that is missing, and reported as such.
      guard let status = try fileSystem.status(from) else { continue }
      if status.isDirectory {
        try take(folder: from, to: to, depth: depth + 1, mayFollow: mayFollow, isOwn: isOwn)
      } else if status.isRegularFile {
        let isLink = try fileSystem.statusOfName(from)?.isSymbolicLink == true
        if isOwn, try fileSystem.status(to)?.inode != status.inode { try fileSystem.remove(to) }
        try take(file: isLink ? JobDirectory.resolve(from) : from, status, to: to)
      }
    }
    try fileSystem.syncDirectory(target)
  }

  private func take(file: String, _ status: FileStatus, to target: String) throws {
    try monitor?.throwIfStopRequested()
    if let there = try fileSystem.status(target) {
      // Left by an interrupted call: a link is whole, and a copy gets its name only when it is.
      guard there.size == status.size else {
        throw BatchError(.refused, "another file has the name already", hint: "Move it away, then resume", path: target)
      }
      return
    }
    do {
      try fileSystem.link(file, to: target)
    } catch let error as StreamsError where error.code == .unsupported {
      try copy(file, to: target)
    }
  }

  private func copy(_ path: String, to target: String) throws {
    let temporary = target + ".new"
    let (source, copy) = (try fileSystem.open(path, .read), try fileSystem.open(temporary, .create))
    defer {
      source.close()
      copy.close()
    }
    var buffer = [UInt8](repeating: 0, count: Self.chunk)
    var offset: UInt64 = 0
    while true {
      try monitor?.throwIfStopRequested()
      let count = try buffer.withUnsafeMutableBytes { try source.read(into: $0, at: offset) }
      guard count > 0 else { break }
      try buffer.withUnsafeBytes { try copy.write(UnsafeRawBufferPointer(rebasing: $0[..<count]), at: offset) }
      offset += UInt64(count)
    }
    try copy.sync()
    try fileSystem.rename(temporary, to: target)
  }
}
