import RunSupport
import Streams

/// A value that is too long for a row in memory, and is copied from where it lies.
package enum OutsideValue {
  /// In the store, except for so many bytes at its beginning.
  case stored(LongValue, skipped: Int)
  /// In a file beside the store.
  case file(path: String, bytes: Int)
  /// In memory.
  case bytes([UInt8])

  package var byteCount: Int {
    switch self {
    case .bytes(let bytes): bytes.count
    case .stored(let value, let skipped): value.byteCount - skipped
    case .file(_, let bytes): bytes
    }
  }

  /// Values of so many bytes or more are not put into a row's own bytes: so a row has few of them, whatever it holds.
  package static let threshold = MemoryBudget.longValueBytes
}
