import ArgumentParser
import Batch

/// A number of bytes: 1048576, 64M, 64MiB, 100kB.
struct ByteCount: ExpressibleByArgument, CustomStringConvertible {
  private static let units: [(name: String, bytes: UInt64)] = [("G", 1 << 30), ("M", 1 << 20), ("k", 1 << 10)]

  let bytes: UInt64
  /// Peak memory without --memory.
  static let standardMemory = ByteCount(bytes: UInt64(MemoryBudget.standard.total))
  /// The least that --memory takes.
  static let leastMemory = ByteCount(bytes: UInt64(MemoryBudget.minimum))

  init(bytes: UInt64) { self.bytes = bytes }

  /// What --memory says. Throws `ValidationError` for what is no size, and for less than a run needs.
  @Sendable static func memory(_ text: String) throws -> ByteCount {
    guard let memory = ByteCount(argument: text) else { throw ValidationError("a size is written as 256M or 1G") }
    guard memory.bytes >= leastMemory.bytes else { throw ValidationError("a run needs at least \(leastMemory)") }
    return memory
  }

  /// As help shows it: 64M.
  var defaultValueDescription: String { description }

  var description: String {
    let unit = Self.units.first { bytes >= $0.bytes && bytes % $0.bytes == 0 }
    return unit.map { "\(bytes / $0.bytes)\($0.name)" } ?? "\(bytes)"
  }

  init?(argument: String) {
    let digits = argument.prefix { $0.isNumber || $0 == "." }
    guard let number = Double(digits), number >= 0 else { return nil }
    let factors: [String: Double] = [
      "": 1, "b": 1, "k": 0x1p10, "kib": 0x1p10, "kb": 1e3, "m": 0x1p20, "mib": 0x1p20, "mb": 1e6, "g": 0x1p30,
      "gib": 0x1p30,
      "gb": 1e9,
    ]
    guard let factor = factors[argument.dropFirst(digits.count).lowercased()], number * factor < 1e18 else {
      return nil
    }
    bytes = UInt64(number * factor)
  }
}
