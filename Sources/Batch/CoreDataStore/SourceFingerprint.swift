import Codecs
import Streams

/// What shows whether a store is still the one that a run began with (I1, I6). Definition: FORMAT.md, "Source
/// fingerprint".
///
/// It covers the sizes, the header, the committed part of the log and a sample of pages; it does not cover times or
/// names, so that a copied or moved store is still the same.
///
/// By itself it does not show every change. In WAL mode SQLite does not move the header's change counter, and closing
/// the store copies the log into the file and removes it: such a change is seen only if it hits a sampled page. Whoever
/// relies on a store being the same compares the time of its last change, too: ``StoreState``.
package enum SourceFingerprint {
  private static let samples: UInt32 = 64
  private static let runBytes = 1 << 16

  /// 32 bytes.
  package static func of(_ snapshot: DatabaseSnapshot) throws -> [UInt8] {
    var writer = ByteWriter()
    writer.writeUInt64(snapshot.fileSize)
    writer.writeUInt64(snapshot.logSalts)
    writer.writeUInt64(UInt64(snapshot.logFrames))
    writer.writeUInt32(snapshot.pageCount)
    var hash = SHA256()
    hash.update(writer.bytes)
    let stride = max(1, snapshot.pageCount / samples)
    // Neighbours are read together.
    let pages = stride == 1 ? max(1, runBytes / snapshot.geometry.pageSize) : 1
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: pages * snapshot.geometry.pageSize, alignment: 8)
    defer { room.deallocate() }
    var number: UInt32 = 1
    while number <= snapshot.pageCount {
      let count = min(pages, Int(snapshot.pageCount - number) + 1)
      // The page with SQLite's lock bytes never holds data and may not even be there; a store that it is in has more
      // pages than samples.
      if number != snapshot.geometry.lockBytePage {
        try snapshot.read(run: number, count: count, into: room)
        hash.update(UnsafeRawBufferPointer(rebasing: room[..<(count * snapshot.geometry.pageSize)]))
      }
      let step = stride * UInt32(count)
      guard snapshot.pageCount - number >= step else { break }
      number += step
    }
    return hash.finalize()
  }
}
