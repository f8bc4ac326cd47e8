import CoreDataModel
import Streams

/// Values at the borders of their types, where migrations and applications go wrong: one in 64 rows has one.
enum SampleEdges {
  /// The least, the greatest, and what lies around nought.
  static func integer(_ number: UInt64, bits: UInt64) -> Int64 {
    let greatest = Int64(bitPattern: UInt64.max >> (64 - bits))
    return switch number % 4 {
    case 0: greatest
    case 1: -greatest - 1
    case 2: -1
    default: 0
    }
  }

  static func double(_ number: UInt64, _ type: AttributeType) -> Double {
    let values: [Double] =
      switch type {
      // Before 1970, at 2001, in the year 4001, and between two microseconds.
      case .date: [-1_000_000_000, 0, 63_113_904_000, 0.000_000_5]
      case .decimal: [0.01, -99_999_999.99, 9_007_199_254_740_992, -0.000_001]
      case .float: [Double(Float.greatestFiniteMagnitude), Double(Float.leastNormalMagnitude), -0.5, 16_777_216]
      case .undefined, .integer16, .integer32, .integer64, .double, .string, .boolean, .binaryData, .uuid, .uri,
        .transformable,
        .objectID, .composite:
        [.greatestFiniteMagnitude, .leastNonzeroMagnitude, -1e-300, 9_007_199_254_740_992]
      }
    return values[Int(number % 4)]
  }

  /// The length of a text that does not fit one page.
  private static let longLength = 6_000

  /// Nothing, what quoting goes wrong with, letters beyond the first plane and in two forms, and more than a page of
  /// text.
  static func text(_ number: UInt64, to bytes: inout [UInt8]) {
    switch number % 8 {
    case 0: break
    case 1: bytes.append(contentsOf: "'\"`[];--\\%_\n\t".utf8)
    case 2: bytes.append(contentsOf: "Z\u{fc}rich Zu\u{308}rich \u{1F469}\u{200D}\u{1F680} \u{5d0}\u{200F}".utf8)
    case 3: for _ in 0..<(longLength / 6) { bytes.append(contentsOf: "\u{df}long ".utf8.prefix(6)) }
    default: bytes.append(contentsOf: " ".utf8)
    }
  }

  static func blobLength(_ number: UInt64) -> Int { number % 8 == 0 ? longLength : 0 }
}
