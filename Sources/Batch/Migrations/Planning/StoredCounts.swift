import Streams

// Counts by name, as checkpoints have them: ascending.
extension ByteWriter {
  mutating func writeCounts(_ counts: [String: UInt64]) {
    writeArray(counts.sorted { $0.key < $1.key }) {
      $0.writeString($1.key)
      $0.writeUInt64($1.value)
    }
  }
}

extension ByteReader {
  mutating func readCounts() throws -> [String: UInt64] {
    Dictionary(try readArray { (try $0.readString(), try $0.readUInt64()) }) { first, _ in first }
  }
}
