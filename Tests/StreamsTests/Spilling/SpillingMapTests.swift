import Foundation
import Testing

@testable import Streams

/// A map with so little memory that most of it lies in runs, against a dictionary.
@Suite struct SpillingMapTests {
  typealias Model = [[UInt8]: SpillingMap.Entry]
  static let memory = 1 << 12

  static func key(_ random: inout SeededGenerator, of keys: Int) -> [UInt8] {
    let number = random.below(keys)
    // Some keys are prefixes of others, one is empty.
    return Array(String(repeating: "k", count: number % 23).utf8) + (number % 23 == 0 ? [] : Array("\(number)".utf8))
  }

  static func expectEqual(_ map: SpillingMap, _ model: Model, _ random: inout SeededGenerator, _ comment: Comment)
    throws
  {
    for (key, entry) in model.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      #expect(try key.withUnsafeBytes { try map.find($0) } == entry, comment)
    }
    for _ in 0..<200 {
      let absent = Array("absent \(random.next())".utf8)
      #expect(try absent.withUnsafeBytes { try map.find($0) } == nil, comment)
    }
  }

  @Test(
    "I5, I11: a map equals a dictionary, and a restored one knows nothing past its checkpoint", arguments: 0..<UInt64(8)
  )
  func differential(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed &+ 100)
    let folder = try FilesTestFolder()
    let path = folder.file("map")
    var map = try SpillingMap(path: path, fileSystem: LocalFileSystem(), memoryBytes: Self.memory)
    var model: Model = [:]
    var saved: (state: SpillingMap.State, model: Model)?
    var restores = 0
    for step in 0..<3000 {
      let key = Self.key(&random, of: 1 + random.below(2000))
      let entry = SpillingMap.Entry(key: Int64(bitPattern: random.next()), entity: UInt32(step))
      try key.withUnsafeBytes { try map.insert($0, entry) }
      model[key] = entry
      switch random.below(300) {
      case 0:
        let (state, file) = try map.checkpoint()
        try file.sync()
        saved = (state, model)
      case 1:
        guard let saved else { continue }
        map = try SpillingMap(
          path: path, fileSystem: LocalFileSystem(), memoryBytes: Self.memory, restoring: saved.state)
        model = saved.model
        restores += 1
        try Self.expectEqual(map, model, &random, "seed \(seed), step \(step)")
      default: break
      }
    }
    try Self.expectEqual(map, model, &random, "seed \(seed)")
    #expect(try map.checkpoint().state.runs > 3, "seed \(seed): nothing was spilled")
    #expect(restores > 0, "seed \(seed)")
  }

  @Test("A log that a checkpoint still has to sync stays open when the table is spilled meanwhile")
  func logOfACheckpointOnItsWay() throws {
    let folder = try FilesTestFolder()
    let map = try SpillingMap(path: folder.file("map"), fileSystem: LocalFileSystem(), memoryBytes: Self.memory)
    try [1, 2, 3].withUnsafeBytes { try map.insert($0, .init(key: 1, entity: 1)) }
    let (state, file) = try map.checkpoint()
    for number in 0..<UInt64(1000) {
      try withUnsafeBytes(of: number) { try map.insert($0, .init(key: Int64(number), entity: 2)) }
    }
    #expect(try map.checkpoint().state.runs > state.runs)
    try file.sync()
    let old = try SpillingMap(
      path: folder.file("map"), fileSystem: LocalFileSystem(), memoryBytes: Self.memory, restoring: state)
    #expect(try [1, 2, 3].withUnsafeBytes { try old.find($0) }?.key == 1)
    #expect(try withUnsafeBytes(of: UInt64(7)) { try old.find($0) } == nil)
  }

  private static func filled(_ folder: FilesTestFolder) throws -> (state: SpillingMap.State, keys: [[UInt8]]) {
    let map = try SpillingMap(path: folder.file("map"), fileSystem: LocalFileSystem(), memoryBytes: memory)
    let keys = (0..<150).map { Array("key number \($0)".utf8) }
    for (index, key) in keys.enumerated() {
      try key.withUnsafeBytes { try map.insert($0, .init(key: Int64(index), entity: 1)) }
    }
    let (state, file) = try map.checkpoint()
    try file.sync()
    #expect(state.runs > 0 && state.logLength > 0)
    return (state, keys)
  }

  private static func restore(_ folder: FilesTestFolder, _ state: SpillingMap.State) throws -> SpillingMap {
    try SpillingMap(path: folder.file("map"), fileSystem: LocalFileSystem(), memoryBytes: memory, restoring: state)
  }

  @Test("I6: a missing or shortened run or log is an error, never an empty map")
  func shortFiles() throws {
    let folder = try FilesTestFolder()
    let (state, _) = try Self.filled(folder)
    for name in ["map.0.run", "map.\(state.runs).log"] {
      let whole = try LocalFileSystem().readAll(folder.file(name), cap: 1 << 20)
      let all = name.hasSuffix("run") ? whole.count : Int(state.logLength)
      for length in [0, 1, 31, 32, all / 2, all - 1] {
        try LocalFileSystem().writeAndSync(Array(whole[0..<length]), to: folder.file(name))
        let error = #expect(throws: StreamsError.self, "\(name) of \(length) bytes") { try Self.restore(folder, state) }
        #expect(error?.code == .damagedCheckpoint && error?.path == folder.file(name))
      }
      try LocalFileSystem().remove(folder.file(name))
      #expect(throws: StreamsError.self) { try Self.restore(folder, state) }
      try LocalFileSystem().writeAndSync(whole, to: folder.file(name))
    }
    #expect(throws: StreamsError.self) { try Self.restore(folder, .init(runs: .max, logLength: 0)) }
    #expect(throws: StreamsError.self) { try Self.restore(folder, .init(runs: 0, logLength: .max)) }
    _ = try Self.restore(folder, state)
  }

  @Test(
    "Damaged bytes of runs and logs end in an answer or an error, never in a trap or a loop", arguments: 0..<UInt64(3))
  func damagedFiles(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed &+ 300)
    let folder = try FilesTestFolder()
    let (state, keys) = try Self.filled(folder)
    for round in 0..<60 {
      let name = folder.file(round % 2 == 0 ? "map.0.run" : "map.\(state.runs).log")
      let whole = try LocalFileSystem().readAll(name, cap: 1 << 20)
      var bytes = whole
      for _ in 0..<1 + random.below(6) {
        // Heads tell lengths, so they are hit more often.
        let place = random.below(2) == 0 ? random.below(min(64, bytes.count)) : random.below(bytes.count)
        bytes[place] = [0, 1, 0x7f, 0x80, 0xff, UInt8(truncatingIfNeeded: random.next())][random.below(6)]
      }
      try LocalFileSystem().writeAndSync(bytes, to: name)
      if let map = try? Self.restore(folder, state) {
        for key in keys { _ = try? key.withUnsafeBytes { try map.find($0) } }
      }
      try LocalFileSystem().writeAndSync(whole, to: name)
    }
    _ = try Self.restore(folder, state)
  }
}
