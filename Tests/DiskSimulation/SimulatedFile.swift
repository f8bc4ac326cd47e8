import Streams

/// A file on a simulated disk; without a node it is only read, or lies elsewhere.
final class SimulatedFile: File {
  private let base: any File
  nonisolated(unsafe) private let node: SimulatedNode?
  private let disk: SimulatedDisk

  init(_ base: any File, _ node: SimulatedNode?, _ disk: SimulatedDisk) {
    (self.base, self.node, self.disk) = (base, node, disk)
  }

  var path: String { base.path }
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
    try disk.look { try base.read(into: buffer, at: offset) }
  }
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
    func store(_ bytes: UnsafeRawBufferPointer) throws {
      try node?.willWrite(base, Int(offset)..<Int(offset) + bytes.count)
      try base.write(bytes, at: offset)
    }
    try disk.change("write", path) { fault in
      if fault == .shortWrite { try store(UnsafeRawBufferPointer(rebasing: bytes.prefix(bytes.count / 2))) }
    } _: {
      try store(bytes)
    }
  }
  func sync() throws {
    try disk.change("sync", path) { _ in
      node?.didFailToSync()
    } _: {
      node?.didSync(size: try base.size())
    }
  }
  func truncate(to length: UInt64) throws {
    try disk.change("truncate", path) {
      try node?.willTruncate(base, to: length)
      try base.truncate(to: length)
    }
  }
  func size() throws -> UInt64 { try disk.look { try base.size() } }
  func lock(_ kind: LockKind, start: UInt64, length: UInt64) throws -> Bool {
    try disk.look { try base.lock(kind, start: start, length: length) }
  }
  func isExcluded(_ kind: LockKind, start: UInt64, length: UInt64) throws -> Bool {
    try disk.look { try base.isExcluded(kind, start: start, length: length) }
  }
  func close() { base.close() }
}
