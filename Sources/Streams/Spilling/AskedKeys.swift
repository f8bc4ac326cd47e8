/// Delivers the numbers of keys that are asked for in the order of the sequence.
final class AskedKeys {
  private static let bufferCount = 1024
  private let files: [PlacesFile]
  private let ranks: KeyRanks
  private let buffer = UnsafeMutableBufferPointer<UInt32>.allocate(capacity: KeyParts.count * bufferCount)
  /// For every part where in the buffer the next place is, and where the buffered ones end.
  @exclusivity(unchecked) private var next = [Int](repeating: 0, count: KeyParts.count)
  @exclusivity(unchecked) private var ends = [Int](repeating: 0, count: KeyParts.count)
  @exclusivity(unchecked) private var offsets: [UInt64]
  @exclusivity(unchecked) private var place: UInt32
  let passedNumbers: Int64

  init(_ files: [PlacesFile], passed: [UInt32], first: UInt32, ranks: KeyRanks) {
    (self.files, self.ranks, place) = (files, ranks, first)
    offsets = passed.enumerated().map { files[$0 % files.count].starts[$0] + UInt64($1) * 4 }
    passedNumbers = ranks.rank(first)
  }

  deinit {
    buffer.deallocate()
    for file in files { file.file.close() }
  }

  @inline(__always)
  func next(_ part: Int) throws -> (number: Int64, isFirst: Bool) {
    if next[part] == ends[part] { try fill(part) }
    let first = buffer[part * Self.bufferCount + next[part]]
    next[part] += 1
    defer { place += 1 }
    return (ranks.rank(first), first == place)
  }

  private func fill(_ part: Int) throws {
    let target = UnsafeMutableRawBufferPointer(
      UnsafeMutableBufferPointer(rebasing: buffer[part * Self.bufferCount..<(part + 1) * Self.bufferCount]))
    let file = files[part % files.count].file
    let read = try file.read(into: target, at: offsets[part])
    guard read >= 4 else {
      throw StreamsError.damagedScratch(file.path)
    }
    offsets[part] += UInt64(read)
    (next[part], ends[part]) = (0, read / 4)
  }
}
