import Foundation
import Testing

@testable import Streams

/// A map with so little memory that most of it lies in runs, against a dictionary.
@Suite struct SpillingMapTests {
  typealias Model = [[UInt8]: SpillingMap.Entry]
  static let memory = 1 << 12

  static func key(_ random: inout SeededGenerator, of keys: Int) -> [UInt8] {
    let number = random.below(keys)
    // Some keys are prefixes of others, one is empty, some are too long for a block's entries.
    if number % 89 == 7 { return [UInt8](repeating: UInt8(number % 3), count: 1000 + 13 * number) }
    return Array(String(repeating: "k", count: number % 23).utf8) + (number % 23 == 0 ? [] : Array("\(number)".utf8))
  }

  static func expectEqual(_ map: SpillingMap, _ model: Model, _ random: inout SeededGenerator, _ comment: Comment)
    throws
  {
    for (key, entry) in model.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      #expect(try key.withUnsafeBytes { try map.find(TaggedKey($0)) } == entry, comment)
    }
    try expectForeseen(map, model, comment)
    for _ in 0..<200 {
      let absent = Array("absent \(random.next())".utf8)
      #expect(try absent.withUnsafeBytes { try map.find(TaggedKey($0)) } == nil, comment)
    }
  }

  @Test("I5: a key that was not foreseen is found when it is inserted, in the table and once that has become a run")
  func insertedSince() throws {
    let folder = try FilesTestFolder()
    let map = try SpillingMap(path: folder.file("map"), fileSystem: LocalFileSystem(), memoryBytes: Self.memory)
    for number in 0..<2000 {
      try Array("k old \(number)".utf8).withUnsafeBytes {
        try map.insert(TaggedKey($0), .init(key: Int64(number), entity: 1))
      }
    }
    #expect(map.hasRuns)
    try Array(" new".utf8).withUnsafeBytes { body in
      let keys = ForeseenKeys(tag: UInt8(ascii: "k"))
      keys.append(body)
      map.foresee(keys)
      try map.foresee(keys, open: 0..<keys.openCount, RunMemory())
      #expect(try keys.entry(0) == nil && map.findInserted(keys, 0) == nil)
      try map.insert(TaggedKey(tag: keys.tag, body: body), .init(key: 77, entity: 1))
      #expect(try map.findInserted(keys, 0)?.key == 77)
      for number in 2000..<4000 {
        try Array("k old \(number)".utf8).withUnsafeBytes {
          try map.insert(TaggedKey($0), .init(key: Int64(number), entity: 1))
        }
      }
      #expect(try map.findInserted(keys, 0)?.key == 77)
    }
  }

  @Test("What runs take is told as time; a map without runs takes none")
  func secondsOfRuns() throws {
    let folder = try FilesTestFolder()
    let map = try SpillingMap(path: folder.file("map"), fileSystem: LocalFileSystem(), memoryBytes: Self.memory)
    func find(_ name: String) throws { _ = try Array(name.utf8).withUnsafeBytes { try map.find(TaggedKey($0)) } }
    for number in 0..<100 { try find("absent \(number)") }
    #expect(!map.hasRuns && map.secondsOfRuns == 0)
    for number in 0..<2000 {
      try Array("\(number)".utf8).withUnsafeBytes {
        try map.insert(TaggedKey($0), .init(key: Int64(number), entity: 1))
      }
    }
    let spilling = map.secondsOfRuns
    #expect(map.hasRuns && spilling > 0)
    for number in 0..<100 { try find("\(number)") }
    #expect(map.secondsOfRuns > spilling)
  }

  /// Keys that are looked for together, in pieces, are found as one by one.
  private static func expectForeseen(_ map: SpillingMap, _ model: Model, _ comment: Comment) throws {
    let tag = UInt8(ascii: "k")
    let wanted = model.filter { $0.key.first == tag }.map { (body: Array($0.key.dropFirst()), entry: $0.value) }
    let bodies = UnsafeMutableBufferPointer<UnsafeMutableRawBufferPointer>.allocate(capacity: wanted.count)
    defer {
      for body in bodies { body.deallocate() }
      bodies.deallocate()
    }
    let keys = ForeseenKeys(tag: tag)
    for (place, key) in wanted.enumerated() {
      bodies.initializeElement(at: place, to: .allocate(byteCount: key.body.count, alignment: 1))
      bodies[place].copyBytes(from: key.body)
      keys.append(UnsafeRawBufferPointer(bodies[place]))
      keys.append(nil)
    }
    map.foresee(keys)
    let half = keys.openCount / 2
    for part in [half..<keys.openCount, 0..<half] { try map.foresee(keys, open: part, RunMemory()) }
    for place in wanted.indices {
      #expect(keys.entry(2 * place) == wanted[place].entry, comment)
      #expect(keys.entry(2 * place + 1) == nil, comment)
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
      try key.withUnsafeBytes { try map.insert(TaggedKey($0), entry) }
      model[key] = entry
      switch random.below(300) {
      case 0:
        let mark = try map.checkpoint()
        try mark.toSync.sync()
        saved = (mark.state, model)
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
    try [1, 2, 3].withUnsafeBytes { try map.insert(TaggedKey($0), .init(key: 1, entity: 1)) }
    let mark = try map.checkpoint()
    let state = mark.state
    for number in 0..<UInt64(1000) {
      try withUnsafeBytes(of: number) { try map.insert(TaggedKey($0), .init(key: Int64(number), entity: 2)) }
    }
    #expect(try map.checkpoint().state.runs > state.runs)
    try mark.toSync.sync()
    let old = try SpillingMap(
      path: folder.file("map"), fileSystem: LocalFileSystem(), memoryBytes: Self.memory, restoring: state)
    #expect(try [1, 2, 3].withUnsafeBytes { try old.find(TaggedKey($0)) }?.key == 1)
    #expect(try withUnsafeBytes(of: UInt64(7)) { try old.find(TaggedKey($0)) } == nil)
  }

  @Test(
    "Four runs of a size become one, so there are few whatever the number of tables",
    arguments: [0, 1, 3, 4, 5, 1023, 1024, 123_456])
  func numbersOfRuns(tables: UInt64) {
    let ranges = RunNumbers.ranges(tables)
    #expect(ranges.reduce(0) { $0 + UInt64($1.count) } == tables)
    #expect(ranges.count <= 3 * 9)
    var end: UInt64 = 0
    for range in ranges {
      #expect(range.lowerBound == end && range.lowerBound % UInt64(range.count) == 0)
      end = range.upperBound
    }
  }

  @Test(
    "I4, I5: either of the two newest checkpoints can be gone back to; files that only older ones name are removed",
    arguments: 0..<UInt64(6))
  func publishing(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed &+ 900)
    let folder = try FilesTestFolder()
    let disk = LocalFileSystem()
    // What is published last stands first.
    var kept: [(state: SpillingMap.State, model: Model)] = []
    var map = try SpillingMap(path: folder.file("map"), fileSystem: disk, memoryBytes: Self.memory)
    var model: Model = [:]
    for step in 0..<4000 {
      let key = Self.key(&random, of: 1500)
      let entry = SpillingMap.Entry(key: Int64(step), entity: 1)
      try key.withUnsafeBytes { try map.insert(TaggedKey($0), entry) }
      model[key] = entry
      if random.below(40) == 0 {
        let mark = try map.checkpoint()
        try mark.toSync.sync()
        mark.finish()
        kept = [(mark.state, model)] + kept.prefix(1)
      } else if random.below(400) == 0, !kept.isEmpty {
        // The newest may be found damaged: then it goes.
        if kept.count > 1, random.below(2) == 0 { kept.removeFirst() }
        model = kept[0].model
        let memory = [Self.memory, 4 * Self.memory][random.below(2)]
        map = try SpillingMap(path: folder.file("map"), fileSystem: disk, memoryBytes: memory, restoring: kept[0].state)
        try Self.expectEqual(map, model, &random, "seed \(seed), step \(step)")
      }
    }
    try Self.expectEqual(map, model, &random, "seed \(seed)")
  }

  @Test("Runs and logs that neither of the two newest checkpoints names are removed; before the second one none is")
  func removal() throws {
    let folder = try FilesTestFolder()
    let map = try SpillingMap(path: folder.file("map"), fileSystem: LocalFileSystem(), memoryBytes: Self.memory)
    func add(_ numbers: Range<Int>) throws {
      for number in numbers {
        try Array("number \(number)".utf8).withUnsafeBytes { try map.insert(TaggedKey($0), .init(key: 1, entity: 1)) }
      }
    }
    func publish() throws { try map.checkpoint().finish() }
    func exists(_ name: String) throws -> Bool { try LocalFileSystem().status(folder.file(name)) != nil }
    try add(0..<1000)
    #expect(try exists("map.0.log") && exists("map.0.run") && exists("map.0-4.run"))
    try publish()
    try add(1000..<2000)
    #expect(try exists("map.0.log") && exists("map.0.run") && exists("map.0-4.run"))
    try publish()
    try add(2000..<8000)
    #expect(try !exists("map.0.log") && !exists("map.0.run") && exists("map.0-64.run"))
    let runs = try map.checkpoint().state.runs
    for _ in 0..<2 { try publish() }
    try add(8000..<8200)
    let wanted = Set(
      RunNumbers.ranges(runs).map {
        $0.count == 1 ? "map.\($0.lowerBound).run" : "map.\($0.lowerBound)-\($0.upperBound).run"
      })
    let names = try Set(LocalFileSystem().list(FilePaths.directory(of: folder.file("map"))))
    #expect(wanted.isSubset(of: names))
    #expect(names.count < wanted.count + 12, "\(names.sorted())")
  }

  @Test("A map goes on with less memory than it had")
  func lessMemory() throws {
    var random = SeededGenerator(seed: 950)
    let folder = try FilesTestFolder()
    let map = try SpillingMap(path: folder.file("map"), fileSystem: LocalFileSystem(), memoryBytes: 1 << 18)
    var model: Model = [:]
    for step in 0..<2000 {
      let key = Self.key(&random, of: 4000)
      model[key] = .init(key: Int64(step), entity: 3)
      try key.withUnsafeBytes { try map.insert(TaggedKey($0), .init(key: Int64(step), entity: 3)) }
    }
    let mark = try map.checkpoint()
    try mark.toSync.sync()
    for _ in 0..<2 {
      let restored = try Self.restore(folder, mark.state)
      try Self.expectEqual(restored, model, &random, "less memory")
      #expect(try restored.checkpoint().state.runs > mark.state.runs + 4)
    }
  }

  private static func filled(_ folder: FilesTestFolder) throws -> (state: SpillingMap.State, keys: [[UInt8]]) {
    let map = try SpillingMap(path: folder.file("map"), fileSystem: LocalFileSystem(), memoryBytes: memory)
    let keys = (0..<150).map { Array("key number \($0)".utf8) }
    for (index, key) in keys.enumerated() {
      try key.withUnsafeBytes { try map.insert(TaggedKey($0), .init(key: Int64(index), entity: 1)) }
    }
    let mark = try map.checkpoint()
    let state = mark.state
    try mark.toSync.sync()
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

  @Test("A flipped bit in a run or a log is an error, and never another answer")
  func flippedBits() throws {
    var random = SeededGenerator(seed: 77)
    let folder = try FilesTestFolder()
    let (state, keys) = try Self.filled(folder)
    var found = 0
    for round in 0..<300 {
      let name = folder.file(["map.0.run", "map.1.run", "map.\(state.runs).log"][round % 3])
      let whole = try LocalFileSystem().readAll(name, cap: 1 << 20)
      var bytes = whole
      // A run is mostly zeros between its parts: where there is something, and where the checks are.
      let full = whole.indices.filter { whole[$0] != 0 }
      bytes[full[random.below(full.count)]] ^= 1 << UInt8(random.below(8))
      try LocalFileSystem().writeAndSync(bytes, to: name)
      do {
        let map = try Self.restore(folder, state)
        for (index, key) in keys.enumerated() {
          #expect(
            try key.withUnsafeBytes { try map.find(TaggedKey($0)) }?.key == Int64(index), "round \(round), \(name)")
        }
      } catch let error as StreamsError {
        #expect(error.code == .damagedCheckpoint && error.hint?.contains("start it again") == true)
        found += 1
      }
      try LocalFileSystem().writeAndSync(whole, to: name)
    }
    #expect(found > 250, "\(found)")
  }

  @Test(
    "Damaged bytes of runs and logs end in an answer or an error, never in a trap or a loop", arguments: 0..<UInt64(3))
  func damagedFiles(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed &+ 300)
    let folder = try FilesTestFolder()
    let (state, keys) = try Self.filled(folder)
    for round in 0..<60 {
      let run = round % 4 == 0 ? "map.0.run" : "map.1.run"
      let name = folder.file(round % 2 == 0 ? run : "map.\(state.runs).log")
      let whole = try LocalFileSystem().readAll(name, cap: 1 << 20)
      var bytes = whole
      for _ in 0..<1 + random.below(6) {
        // Heads tell lengths, so they are hit more often.
        let place = random.below(2) == 0 ? random.below(min(64, bytes.count)) : random.below(bytes.count)
        bytes[place] = [0, 1, 0x7f, 0x80, 0xff, UInt8(truncatingIfNeeded: random.next())][random.below(6)]
      }
      try LocalFileSystem().writeAndSync(bytes, to: name)
      if let map = try? Self.restore(folder, state) {
        for key in keys { _ = try? key.withUnsafeBytes { try map.find(TaggedKey($0)) } }
        // So many that the damaged run is merged.
        for number in 0..<250 {
          try? Array("more \(number)".utf8).withUnsafeBytes { try map.insert(TaggedKey($0), .init(key: 1, entity: 1)) }
        }
      }
      try LocalFileSystem().writeAndSync(whole, to: name)
    }
    _ = try Self.restore(folder, state)
  }
}
