import Foundation
import Streams
import Testing

@testable import Migrations

@Suite("The log of late changes") struct PatchLogTests {
  @Test("Every flipped bit is found before the change that it is in is used")
  func flippedBits() throws {
    let folder = try JobTestFolder()
    let path = folder.file("patches")
    let log = try PatchLog(path: path, fileSystem: LocalFileSystem(), restoring: nil)
    for key in 1...3 { try log.add(table: 2, key: Int64(key), column: 7, .integer(Int64(key) * 1000)) }
    let state = try log.checkpoint()
    let whole = try LocalFileSystem().readAll(path, cap: 1 << 16)
    for bit in 0..<whole.count * 8 {
      var bytes = whole
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      try LocalFileSystem().writeAndSync(bytes, to: path)
      let damaged = try PatchLog(path: path, fileSystem: LocalFileSystem(), restoring: (state.length, state.count))
      var keys: [Int64] = []
      let error = #expect(throws: StreamsError.self, "bit \(bit)") { try damaged.forEach { keys.append($0.key) } }
      #expect(error?.code == .damagedCheckpoint && keys == Array([1, 2, 3].prefix(keys.count)) && keys.count < 3)
    }
  }
}
