import Streams
import Synchronization

/// A file that keeps only the blocks that were written: files of gigabytes fit into a test.
final class SparseFile: File {
  static let blockSize = 1024

  private struct State {
    var blocks: [UInt64: [UInt8]] = [:]
    var size: UInt64 = 0
  }

  let path = "sparse"
  private let state = Mutex(State())

  /// Blocks that were written.
  var blockCount: Int { state.withLock { $0.blocks.count } }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
    state.withLock { state in
      guard offset < state.size else { return 0 }
      let count = min(buffer.count, Int(state.size - offset))
      for index in 0..<count {
        let place = offset + UInt64(index)
        buffer[index] = state.blocks[place / UInt64(Self.blockSize)]?[Int(place % UInt64(Self.blockSize))] ?? 0
      }
      return count
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
    state.withLock { state in
      var done = 0
      while done < bytes.count {
        let place = offset + UInt64(done)
        let (block, start) = (place / UInt64(Self.blockSize), Int(place % UInt64(Self.blockSize)))
        let count = min(Self.blockSize - start, bytes.count - done)
        let part = bytes[done..<done + count]
        if state.blocks[block] != nil || part.contains(where: { $0 != 0 }) {
          state.blocks[block, default: [UInt8](repeating: 0, count: Self.blockSize)].replaceSubrange(
            start..<start + count, with: part)
        }
        done += count
      }
      state.size = max(state.size, offset + UInt64(bytes.count))
    }
  }

  func sync() throws {}
  func truncate(to length: UInt64) throws { state.withLock { $0.size = length } }
  func size() throws -> UInt64 { state.withLock { $0.size } }
  func lock(_ kind: LockKind, start: UInt64, length: UInt64) throws -> Bool { true }
  func close() {}
}
