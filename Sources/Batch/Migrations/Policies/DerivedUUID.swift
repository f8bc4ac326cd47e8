import Codecs
import Streams

/// UUIDs that follow from what they are for, so that a run that is resumed makes the same ones.
enum DerivedUUID {
  /// A UUID of the form of random ones, as a store holds it. Other parts and keys give other ones: the length is before
  /// each part, so that no two lists of parts have the same bytes.
  static func value(_ parts: [String], keys: [Int64] = []) -> Value {
    var bytes = parts.flatMap { Array("\($0.utf8.count):\($0)".utf8) }
    for key in keys { withUnsafeBytes(of: key.littleEndian) { bytes += $0 } }
    var uuid = Array(SHA256.hash(bytes).prefix(16))
    uuid[6] = uuid[6] & 0x0f | 0x40
    uuid[8] = uuid[8] & 0x3f | 0x80
    return .blob(uuid)
  }
}
