/// Every constant of the checkpoint file, as FORMAT.md has them. Numbers are little-endian.
///
/// The places of magic, version, length and check are the same in every version, so that a damaged file is
/// distinguished from one that a newer program wrote.
public enum CheckpointFormat {
  /// The first bytes of the payload, "GODWITCP".
  public static let magic: [UInt8] = Array("GODWITCP".utf8)
  /// The version that this program writes, and the newest that it reads.
  public static let version: UInt32 = 1
  /// Bytes of a fingerprint.
  public static let fingerprintLength = 32
  /// The largest payload that is read or written, in bytes.
  public static let payloadCap = 256 << 20
  /// The largest file that is read: LZ4 adds less than this to bytes that it cannot compress.
  public static let fileCap = payloadCap + payloadCap / 128 + 4096
  /// The longest name of a section, in bytes of UTF-8.
  public static let sectionNameCap = 255
  /// The most sections of one checkpoint.
  public static let sectionCountCap = 65_536

  // Positions in the payload.
  static let versionOffset = 8
  static let reservedOffset = 12
  static let lengthOffset = 16
  static let sequenceOffset = 24
  static let planOffset = 32
  static let sourceOffset = 64
  static let sectionCountOffset = 96
  static let headerLength = 100
  static let trailerLength = 8

  // Names of files.
  static let namePrefix = "checkpoint-"
  static let nameSuffix = ".lz4"
  static let temporarySuffix = ".tmp"
  static let nameDigits = 10

  /// The name of the file that holds the checkpoint of that number.
  public static func fileName(_ sequence: UInt64) -> String {
    let digits = String(sequence)
    let zeros = String(repeating: "0", count: max(0, nameDigits - digits.utf8.count))
    return namePrefix + zeros + digits + nameSuffix
  }

  /// The number in a file's name, or nil when it is not exactly the name that such a number gets.
  static func sequence(ofFileName name: String) -> UInt64? {
    guard name.hasPrefix(namePrefix), name.hasSuffix(nameSuffix) else { return nil }
    let digits = name.dropFirst(namePrefix.count).dropLast(nameSuffix.count)
    guard let sequence = UInt64(digits), fileName(sequence) == name else { return nil }
    return sequence
  }

  static func isTemporary(_ name: String) -> Bool {
    name.hasPrefix(namePrefix) && name.hasSuffix(temporarySuffix)
  }
}

/// CRC-64/XZ (ECMA-182, reflected): finds every single flipped bit and every burst up to 64 bits.
enum CRC64 {
  private static let table: [UInt64] = (0..<256).map { index in
    (0..<8).reduce(UInt64(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xC96C_5795_D787_0F42 : value >> 1 }
  }

  static func checksum(_ bytes: some Sequence<UInt8>) -> UInt64 {
    let table = table
    var value = UInt64.max
    for byte in bytes { value = table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] ^ value >> 8 }
    return ~value
  }
}
