import Testing

@testable import Streams

/// Keys numbered part by part, against a dictionary.
@Suite("Numbers of keys") struct KeyNumberingTests {
  private static func keys(_ random: inout SeededGenerator, count: Int, of distinct: Int) -> [[UInt8]] {
    (0..<count).map { _ in SpillingMapTests.key(&random, of: distinct) }
  }

  private static func numbering(_ folder: FilesTestFolder, memory: Int = 1 << 20) throws -> KeyNumbering {
    try KeyNumbering(path: folder.file("keys"), fileSystem: LocalFileSystem(), memoryBytes: memory)
  }

  private static func append(_ key: [UInt8], to numbering: KeyNumbering) throws -> Bool {
    try key.withUnsafeBytes { try numbering.append($0, hash: TaggedKey(tag: 3, body: $0).hash) }
  }

  @Test("Every key has the number of its first place, wherever one begins to ask", arguments: 1...8)
  func sameAsDictionary(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let (count, distinct) = ([1, 700, 20_000, 60_000][Int(seed) % 4], seed < 5 ? 150 : 9000)
    let keys = Self.keys(&random, count: count, of: distinct)
    let start = random.below(count + 1)
    let folder = try FilesTestFolder()
    let numbering = try Self.numbering(folder)
    var numbers: [[UInt8]: Int64] = [:]
    var passed = 0
    for (place, key) in keys.enumerated() {
      if place == start { numbering.beginAsked() }
      if place == start { passed = numbers.count }
      #expect(try Self.append(key, to: numbering))
      if numbers[key] == nil { numbers[key] = Int64(numbers.count) }
    }
    if start == count { numbering.beginAsked() }
    if start == count { passed = numbers.count }
    #expect(try numbering.number {})
    #expect(numbering.passedNumbers == Int64(passed))
    var seen = Set(keys[..<start])
    for key in keys[start...] {
      let found = try key.withUnsafeBytes { try numbering.next(TaggedKey(tag: 3, body: $0).hash) }
      let expected = try #require(numbers[key])
      #expect(found.number == expected && found.isFirst == seen.insert(key).inserted, "seed \(seed)")
    }
    withExtendedLifetime(folder) {}
  }

  @Test("I7: keys that do not fit in memory are not numbered, and neither are more places than it has bits for")
  func tooMany() throws {
    let folder = try FilesTestFolder()
    let numbering = try Self.numbering(folder, memory: 1 << 14)
    // A table has 4 KiB here, a part of distinct keys more.
    var fits = true
    for number in 0..<100_000 where fits { fits = try Self.append(Array("key \(number)".utf8), to: numbering) }
    #expect(try fits && !numbering.number {})
    for number in 0..<100_000 where fits { fits = try Self.append(Array("key \(number)".utf8), to: numbering) }
    #expect(!fits)
    withExtendedLifetime(folder) {}
  }

  @Test("I10: what stops one thread ends all, and nothing is left on the disk")
  func stops() throws {
    struct Stopped: Error {}
    let folder = try FilesTestFolder()
    let numbering = try Self.numbering(folder)
    for number in 0..<5000 { _ = try Self.append(Array("key \(number % 999)".utf8), to: numbering) }
    #expect(throws: Stopped.self) { try numbering.number { throw Stopped() } }
    #expect(try LocalFileSystem().list(folder.path).isEmpty)
  }
}
