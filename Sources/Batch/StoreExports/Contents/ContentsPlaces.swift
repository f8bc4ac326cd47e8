import RunSupport
import Streams

/// Finds what stands in another place of an ordered list. Such lists are numbered with gaps, so only the order of the
/// numbers has a meaning: places are counted among what both states have in a list.
///
/// All is sorted in temporary files if it is much.
final class ContentsPlaces {
  /// The bytes of a list, before a number.
  private static let listLength = 16

  private let byOld: ExternalSorter
  private let byNew: ExternalSorter
  private let moves: ExternalSorter
  private var isMoved = false

  init(memory: MemoryBudget, fileSystem: any FileSystem) {
    func sorter() -> ExternalSorter {
      ExternalSorter(
        memoryBytes: memory.sortBytes / 6, path: UnfinishedFiles.temporaryPath("places"), fileSystem: fileSystem)
    }
    (byOld, byNew, moves) = (sorter(), sorter(), sorter())
  }

  /// Notes what both states have in the list of an owner: its number in either, and what it is known by.
  func add(_ list: Int, of owner: Int64, old: Int64, new: Int64, mark: [UInt8]) throws {
    if old != new { isMoved = true }
    var bytes: [UInt8] = []
    for number in [Int64(list), owner, old] { bytes.append(ordered: number) }
    try add(bytes + mark, new, to: byOld)
  }

  private func add(_ bytes: [UInt8], _ number: Int64, to sorter: ExternalSorter) throws {
    var bytes = bytes
    bytes.append(ordered: number)
    try bytes.withUnsafeBytes { try sorter.add($0) }
  }

  /// Calls `body` with each mark that stands in another place, in their order, and with both places, from 1.
  func find(_ body: (_ mark: UnsafeRawBufferPointer, _ old: Int64, _ new: Int64) throws -> Void) throws {
    // Where all numbers are the same, so are the places.
    guard isMoved else { return }
    try rank(byOld) { list, mark, number, place in
      var bytes = list
      bytes.append(ordered: number)
      try add(bytes + mark, place, to: byNew)
    }
    try rank(byNew) { _, mark, before, place in
      guard before != place else { return }
      var bytes = mark
      bytes.append(ordered: before)
      try add(bytes, place, to: moves)
    }
    try moves.drain { bytes in
      let end = bytes.count - 16
      try body(
        UnsafeRawBufferPointer(rebasing: bytes[..<end]), bytes.ordered(at: end), bytes.ordered(at: end + 8))
    }
  }

  /// Counts within each list. `body` gets the list, the mark, the number behind it and the place.
  private func rank(
    _ sorter: ExternalSorter, _ body: (_ list: [UInt8], _ mark: [UInt8], Int64, _ place: Int64) throws -> Void
  ) throws {
    var (list, place) = ([UInt8](), Int64(0))
    try sorter.drain { bytes in
      if !list.elementsEqual(bytes[..<Self.listLength]) { (list, place) = (Array(bytes[..<Self.listLength]), 0) }
      place += 1
      let end = bytes.count - 8
      try body(list, Array(bytes[(Self.listLength + 8)..<end]), bytes.ordered(at: end), place)
    }
  }
}

extension [UInt8] {
  /// Appends a number so that plain comparison of bytes is its order.
  mutating func append(ordered number: Int64) {
    Swift.withUnsafeBytes(of: (UInt64(bitPattern: number) ^ 1 << 63).bigEndian) { append(contentsOf: $0) }
  }
}

extension UnsafeRawBufferPointer {
  /// What ``Swift/Array/append(ordered:)`` wrote.
  func ordered(at place: Int) -> Int64 {
    Int64(bitPattern: UInt64(bigEndian: loadUnaligned(fromByteOffset: place, as: UInt64.self)) ^ 1 << 63)
  }
}
