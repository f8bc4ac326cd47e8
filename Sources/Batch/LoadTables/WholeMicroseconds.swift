/// Times of whole microseconds, which is what texts and servers hold.
package enum WholeMicroseconds {
  /// Whether they hold a time, in seconds, to its last bit.
  @inline(__always)
  package static func hold(_ seconds: Double) -> Bool { (seconds * 1_000_000).rounded() / 1_000_000 == seconds }
}
