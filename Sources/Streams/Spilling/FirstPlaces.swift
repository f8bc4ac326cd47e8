/// For every part, the places at which its keys came first, in the order of its keys.
struct PlacesFile {
  fileprivate(set) var file: any File
  /// Where the places of every part begin, in bytes; of parts that another file has, anything.
  fileprivate(set) var starts: [UInt64]
}

/// Finds where keys come first, part by part on two threads.
struct FirstPlaces {
  let parts: KeyParts
  let counts: [UInt32]
  let memoryBytes: Int
  let throwIfStopped: @Sendable () throws -> Void
  private static let threads = 2

  init(
    parts: KeyParts, counts: [UInt32], memoryBytes: Int, throwIfStopped: @escaping @Sendable () throws -> Void
  ) {
    (self.parts, self.counts, self.memoryBytes, self.throwIfStopped) = (parts, counts, memoryBytes, throwIfStopped)
  }

  /// Writes the places to files and sets a bit for each. A part is in the file of its number by the number of files. Nil if the distinct
  /// keys of a part do not fit in memory.
  func find(at path: String, _ fileSystem: any FileSystem, _ ranks: KeyRanks) throws -> [PlacesFile]? {
    let works = try (0..<Self.threads).map { thread in
      try PlacesWork(
        path: "\(path).\(thread)", fileSystem: fileSystem, parts: parts,
        numbers: Array(stride(from: thread, to: KeyParts.count, by: Self.threads)),
        tableBytes: memoryBytes / 2 / Self.threads, throwIfStopped: throwIfStopped)
    }
    let workers = try Worker.startAll(works.map { work in { try work.run() } })
    do {
      // Each to its end, also where one has given up: nobody must wait for ever at a full queue.
      for part in 0..<KeyParts.count { try works[part % Self.threads].found.pop()?.forEach(ranks.set) }
    } catch {
      for work in works { work.found.abort(error) }
    }
    let ends = workers.map { $0.join() }
    if let error = ends.compactMap({ $0 }).first { throw error }
    return works.allSatisfy(\.isComplete) ? works.map(\.file) : nil
  }
}

/// What one thread does: some of the parts, one after the other.
private final class PlacesWork: @unchecked Sendable {
  // Sendable: one thread works; others read what is found through the queue, and the rest once it has ended.
  private(set) var file: PlacesFile
  private(set) var isComplete = false
  /// The places at which keys of each part came first.
  let found = BoundedQueue<[UInt32]>(capacity: 2)
  private let parts: KeyParts
  private let numbers: [Int]
  private let table: HashTable
  private let throwIfStopped: @Sendable () throws -> Void
  private var end: UInt64 = 0
  private var pending: [UInt32] = []
  private static let pendingCount = 1 << 14

  init(
    path: String, fileSystem: any FileSystem, parts: KeyParts, numbers: [Int], tableBytes: Int,
    throwIfStopped: @escaping @Sendable () throws -> Void
  ) throws {
    (self.parts, self.numbers, self.throwIfStopped) = (parts, numbers, throwIfStopped)
    table = HashTable(byteLimit: tableBytes)
    file = PlacesFile(
      file: try fileSystem.openScratch(path), starts: [UInt64](repeating: 0, count: KeyParts.count))
  }

  func run() throws {
    do {
      for part in numbers {
        try throwIfStopped()
        file.starts[part] = end + UInt64(pending.count * 4)
        guard let places = try find(part) else { return found.finish() }
        try found.push(places)
      }
      try flush()
      isComplete = true
      found.finish()
    } catch {
      found.abort(error)
      throw error
    }
  }

  /// The places at which keys of a part come first; nil if they do not fit in memory.
  private func find(_ part: Int) throws -> [UInt32]? {
    table.removeAll()
    var firsts: [UInt32] = []
    try parts.forEach(in: part) { bytes, place in
      let key = TaggedKey(bytes)
      let hash = key.hash
      if let known = table.find(key, hash: hash, word: table.word(hash)) {
        pending.append(UInt32(truncatingIfNeeded: known.key))
      } else {
        table.insert(key, hash: hash, SpillingEntry(key: Int64(place), entity: 0))
        firsts.append(place)
        pending.append(place)
      }
      if pending.count == Self.pendingCount { try flush() }
      return !table.isFull
    }
    return table.isFull ? nil : firsts
  }

  private func flush() throws {
    try pending.withUnsafeBytes { try file.file.write($0, at: end) }
    end += UInt64(pending.count * 4)
    pending.removeAll(keepingCapacity: true)
  }
}
