import LoadTables
import RunSupport
import Streams

/// Reads a value that lies elsewhere, from its first byte to its last, as much at a time as is asked for.
final class OutsideReader {
  private enum Place {
    case bytes([UInt8])
    case stream(LongValueStream)
    case file(any File, path: String)
  }

  /// Bytes of the value.
  let length: Int
  private let place: Place
  private var position = 0

  /// `longValues` reads from the file that has the value.
  init(_ value: OutsideValue, longValues: LongValueReader, fileSystem: any FileSystem) throws {
    length = value.byteCount
    switch value {
    case .bytes(let bytes): place = .bytes(bytes)
    case .stored(let value, let skipped): place = .stream(LongValueStream(value, longValues, skipping: skipped))
    case .file(let path, _): place = .file(try fileSystem.open(path, .read), path: path)
    }
  }

  deinit { if case .file(let file, _) = place { file.close() } }

  /// Copies the next bytes, no more than are left.
  func read(into target: UnsafeMutableRawPointer, _ count: Int) throws {
    switch place {
    case .bytes(let bytes):
      bytes.withUnsafeBytes { target.copyMemory(from: $0.baseAddress! + position, byteCount: count) }
    case .stream(let stream): try stream.read(into: target, count)
    case .file(let file, let path):
      let buffer = UnsafeMutableRawBufferPointer(start: target, count: count)
      guard try file.read(into: buffer, at: UInt64(position)) == count else {
        throw BatchError(
          .badStore, "the file became shorter while it was read", hint: "End what changes the store", path: path)
      }
    }
    position += count
  }
}
