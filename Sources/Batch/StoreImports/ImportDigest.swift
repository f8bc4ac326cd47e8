import Streams

/// What a file holds, as it is read: the hashes of its pieces, each with its number. It finds changes, not forgeries.
struct ImportDigest {
  private static let pieceBytes = 1 << 16

  private var sum = ProofDigest()
  private var pieces: Int64 = 0
  /// The beginning of the next piece.
  private var rest: [UInt8] = []

  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    var place = 0
    if !rest.isEmpty {
      place = min(bytes.count, Self.pieceBytes - rest.count)
      rest.append(contentsOf: bytes[..<place])
      guard rest.count == Self.pieceBytes else { return }
      rest.withUnsafeBytes { sum.add(pieces, $0) }
      pieces += 1
      rest.removeAll(keepingCapacity: true)
    }
    while bytes.count - place >= Self.pieceBytes {
      sum.add(pieces, UnsafeRawBufferPointer(rebasing: bytes[place..<(place + Self.pieceBytes)]))
      pieces += 1
      place += Self.pieceBytes
    }
    rest.append(contentsOf: bytes[place...])
  }

  /// Of everything that was added.
  var value: [UInt8] {
    var all = sum
    if !rest.isEmpty { rest.withUnsafeBytes { all.add(pieces, $0) } }
    var bytes = ByteWriter()
    for word in all.words { bytes.writeUInt64(word) }
    return bytes.bytes
  }
}
