import Foundation
import Streams
import Testing

@testable import Migrations

/// The disk that trials write to is one: what is read is what was written.
@Suite("A disk in memory, or in scratch files", .serialized)
struct MemoryDiskTests {
  static let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("godwit-\(UUID())").path

  @Test("Random writes, reads and cuts give what an array gives", arguments: [UInt64(71), 72], [nil, scratch])
  func random(seed: UInt64, scratch: String?) throws {
    print("seed \(seed)")
    var random = SeededRandom(seed)
    let file = try MemoryDisk(limit: 2 << 20, scratch: scratch).open("file", .create)
    #expect(!FileManager.default.fileExists(atPath: Self.scratch))
    var expected: [UInt8] = []
    for _ in 0..<300 {
      let place = Int.random(in: 0...600_000, using: &random)
      switch Int.random(in: 0...9, using: &random) {
      case 0:
        try file.truncate(to: UInt64(place))
        expected = Array(expected.prefix(place)) + [UInt8](repeating: 0, count: max(0, place - expected.count))
      case 1...5:
        let bytes = [UInt8](
          repeating: UInt8.random(in: 1...255, using: &random), count: Int.random(in: 0...400_000, using: &random))
        try bytes.withUnsafeBytes { try file.write($0, at: UInt64(place)) }
        let end = bytes.isEmpty ? expected.count : max(expected.count, place + bytes.count)
        expected += [UInt8](repeating: 0, count: end - expected.count)
        if !bytes.isEmpty { expected.replaceSubrange(place..<place + bytes.count, with: bytes) }
      default:
        var buffer = [UInt8](repeating: 0, count: Int.random(in: 0...400_000, using: &random))
        let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0, at: UInt64(place)) }
        #expect(Array(buffer.prefix(count)) == Array(expected.dropFirst(place).prefix(buffer.count)))
      }
      #expect(try file.size() == UInt64(expected.count))
    }
  }

  @Test("A file beyond the limit is refused, and names lead where they are moved", arguments: [nil, scratch])
  func names(scratch: String?) throws {
    let disk = MemoryDisk(limit: 1 << 20, scratch: scratch)
    let file = try disk.open("a", .create)
    let bytes = [UInt8](repeating: 7, count: (1 << 20) + 1)
    #expect(throws: StreamsError.self) { try bytes.withUnsafeBytes { try file.write($0, at: 0) } }
    #expect(throws: StreamsError.self) { try file.truncate(to: .max) }
    try bytes.prefix(10).withUnsafeBytes { try file.write($0, at: 5) }
    // All files together: what is in use stays as it is.
    let other = try disk.open("other", .create)
    #expect(throws: StreamsError.self) { try bytes.prefix(1 << 20).withUnsafeBytes { try other.write($0, at: 0) } }
    #expect(try file.size() == 15 && other.size() == 0)
    #expect(throws: StreamsError.self) { try disk.rename("nothing", to: "a") }
    try disk.rename("a", to: "b")
    #expect(try disk.status("a") == nil)
    #expect(try disk.status("b")?.size == 15)
    #expect(throws: StreamsError.self) { try disk.open("a", .read) }
    // Who closes a file takes it from nobody.
    try disk.open("b", .read).close()
    var read = [UInt8](repeating: 0, count: 20)
    #expect(try read.withUnsafeMutableBytes { try disk.open("b", .read).read(into: $0, at: 5) } == 10 && read[9] == 7)
    try disk.remove("b")
    #expect(throws: StreamsError.self) { try disk.open("b", .update) }
  }
}
