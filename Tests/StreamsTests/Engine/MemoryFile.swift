import Foundation
import Streams

/// A file in memory, and a disk that has this file alone. One thread at a time.
final class MemoryFile: File, @unchecked Sendable {
  let path = "memory"
  private var memory: UnsafeMutableRawPointer
  private var length = 0
  private var capacity = 1 << 16

  /// Plain memory: an array's elements cost a call each where the optimiser is off.
  init(_ bytes: [UInt8] = []) {
    memory = .allocate(byteCount: capacity, alignment: 8)
    grow(to: bytes.count)
    bytes.withUnsafeBytes { if let base = $0.baseAddress { memory.copyMemory(from: base, byteCount: $0.count) } }
  }

  deinit { memory.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory, count: length) }

  private func grow(to end: Int) {
    guard end > length else { return }
    if end > capacity {
      capacity = max(end, 2 * capacity)
      let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
      larger.copyMemory(from: memory, byteCount: length)
      memory.deallocate()
      memory = larger
    }
    memset(memory + length, 0, end - length)
    length = end
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
    guard offset < UInt64(length), let target = buffer.baseAddress else { return 0 }
    let count = min(buffer.count, length - Int(offset))
    target.copyMemory(from: memory + Int(offset), byteCount: count)
    return count
  }

  func write(_ data: UnsafeRawBufferPointer, at offset: UInt64) throws {
    guard let base = data.baseAddress else { return }
    grow(to: Int(offset) + data.count)
    (memory + Int(offset)).copyMemory(from: base, byteCount: data.count)
  }

  func truncate(to end: UInt64) throws {
    grow(to: Int(end))
    length = Int(end)
  }

  func sync() throws {}
  func size() throws -> UInt64 { UInt64(length) }
  func lock(_ kind: LockKind, start: UInt64, length: UInt64) throws -> Bool { true }
  func close() {}

  /// The file as a database.
  func snapshot() throws -> DatabaseSnapshot {
    try DatabaseSnapshot(path: path, fileSystem: SingleFileSystem(file: self), locking: .none)
  }
}
