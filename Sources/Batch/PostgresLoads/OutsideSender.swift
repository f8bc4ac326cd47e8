import Codecs
import CoreDataStore
import LoadTables
import RunSupport
import Streams

/// Sends buffers of rows, and between their bytes the values that lie elsewhere, piece by piece. One thread at a time.
final class OutsideSender {
  private let store: LoadStore
  private let reader: LongValueReader
  private static let pieceBytes = 128 << 10

  init(_ store: LoadStore) {
    self.store = store
    reader = LongValueReader(snapshot: store.reader.snapshot, limit: OutsideValue.maximum)
  }

  /// Sends a buffer's rows; returns the digest of all of them.
  func send(_ buffer: CopyBuffer, to session: any PostgresSession) throws -> ProofDigest {
    guard !buffer.insertions.isEmpty else {
      try session.send(buffer.bytes)
      return buffer.digest
    }
    var (digest, place) = (buffer.digest, 0)
    for row in buffer.outsideRows {
      var hashed: [UInt8] = []
      var begin = row.bytes.lowerBound
      for insertion in buffer.insertions[row.insertions] {
        try session.send(UnsafeRawBufferPointer(rebasing: buffer.bytes[place..<insertion.offset]))
        let hash = try send(insertion, row, to: session)
        // The proof reads 32 bytes in the place of the value.
        hashed += buffer.bytes[begin..<insertion.offset - 4] + [0, 0, 0, 32] + hash
        (begin, place) = (insertion.offset, insertion.offset)
      }
      hashed += buffer.bytes[begin..<row.bytes.upperBound]
      hashed.withUnsafeBytes { digest.add(CopyRow.key($0), $0) }
    }
    try session.send(UnsafeRawBufferPointer(rebasing: buffer.bytes[place...]))
    return digest
  }

  private func send(
    _ insertion: CopyBuffer.Insertion, _ row: CopyBuffer.OutsideRow, to session: any PostgresSession
  ) throws -> [UInt8] {
    var (hash, text) = (SHA256(), TextPieces())
    do {
      try forEachPiece(of: insertion.value) { piece in
        if insertion.isText { try text.add(piece).throwUnlessGood() }
        hash.update(piece)
        try session.send(piece)
      }
      if insertion.isText, !text.isWhole { try TextCheck.Result.notUTF8.throwUnlessGood() }
    } catch let fault as CopyFault {
      throw fault.error(
        "a long text \(fault.what), which text cannot hold", path: store.path, entity: row.name.entity,
        key: row.name.key)
    }
    return hash.finalize()
  }

  private func forEachPiece(of value: OutsideValue, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    switch value {
    case .bytes(let bytes): try bytes.withUnsafeBytes(body)
    case .stored(let value, let skipped):
      var skipped = skipped
      try reader.forEachPiece(of: value, bytes: Self.pieceBytes) { piece in
        let left = min(skipped, piece.count)
        skipped -= left
        try body(UnsafeRawBufferPointer(rebasing: piece[left...]))
      }
    case .file(let path, let bytes): try forEachPiece(of: path, bytes, body)
    }
  }

  private func forEachPiece(of path: String, _ bytes: Int, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    let file = try store.fileSystem.open(path, .read)
    defer { file.close() }
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceBytes, alignment: 16)
    defer { piece.deallocate() }
    var place = 0
    while place < bytes {
      let target = UnsafeMutableRawBufferPointer(rebasing: piece[..<min(piece.count, bytes - place)])
      let count = try file.read(into: target, at: UInt64(place))
      guard count > 0 else {
        throw BatchError(
          .badStore, "the file became shorter while it was read", hint: "End what changes the store", path: path)
      }
      try body(UnsafeRawBufferPointer(rebasing: piece[..<count]))
      place += count
    }
  }
}
