import Foundation
import RunSupport
import Streams

/// The bytes of a file one after the other, within a bound of memory, with the number of the line.
final class XMLBytes {
  private static let pieceBytes = 1 << 18

  let path: String
  private let file: any File
  private var buffer = [UInt8](repeating: 0, count: pieceBytes)
  private var place = 0
  private var end = 0
  /// Bytes of the file that were read.
  private(set) var bytesRead: UInt64 = 0
  /// The line at hand, from 1.
  private(set) var line = 1

  init(_ path: String, _ fileSystem: any FileSystem) throws {
    guard try fileSystem.status(path) != nil else { throw NearName.noSuchFile(path) }
    self.path = path
    file = try fileSystem.open(path, .read)
  }

  deinit { file.close() }

  /// The next byte, which stays; nil at the end of the file.
  func peek() throws -> UInt8? {
    guard try place < end || fill() else { return nil }
    return buffer[place]
  }

  /// The next byte; nil at the end of the file.
  func next() throws -> UInt8? {
    guard let byte = try peek() else { return nil }
    place += 1
    if byte == 0x0A { line += 1 }
    return byte
  }

  /// Hands on everything before the next byte of that kind, which stays, in pieces; false if the file ends before.
  func run(until stop: UInt8, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
    while try place < end || fill() {
      let found = try buffer.withUnsafeBytes { bytes in
        let rest = UnsafeRawBufferPointer(rebasing: bytes[place..<end])
        let found = memchr(rest.baseAddress!, Int32(stop), rest.count).map { UnsafeRawPointer($0) - rest.baseAddress! }
        let piece = UnsafeRawBufferPointer(rebasing: rest[..<(found ?? rest.count)])
        for byte in piece where byte == 0x0A { line += 1 }
        place += piece.count
        try body(piece)
        return found != nil
      }
      if found { return true }
    }
    return false
  }

  private func fill() throws -> Bool {
    let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0, at: bytesRead) }
    (place, end) = (0, count)
    bytesRead += UInt64(count)
    return count > 0
  }
}
