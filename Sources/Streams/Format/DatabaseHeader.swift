/// The first 100 bytes of a database file.
///
/// Source of the rule: SQLite, "Database File Format", section 1.3. Reading checks every field that the engine relies
/// on.
public struct DatabaseHeader: Sendable, Equatable {
  /// How the database holds changes: a rollback journal or a write-ahead log.
  public enum Version: UInt8, Sendable {
    case rollback = 1
    case writeAheadLog = 2
  }
  /// How text is encoded.
  public enum TextEncoding: UInt32, Sendable {
    case utf8 = 1
    case utf16LittleEndian = 2
    case utf16BigEndian = 3
  }

  /// Bytes of the header.
  public static let length = 100
  static let magic: [UInt8] = Array("SQLite format 3\0".utf8)

  /// Bytes of a page.
  public var pageSize: Int
  /// Reserved bytes at the end of each page.
  public var reserved: Int
  /// Journal mode of readers and writers.
  public var version: Version
  /// Counts changes in rollback mode.
  public var changeCounter: UInt32
  /// Pages as the header counts them; trusted only when ``pageCountIsValid``.
  public var pageCount: UInt32
  /// The first freelist trunk page.
  public var freelistTrunk: UInt32
  /// Pages on the freelist.
  public var freelistCount: UInt32
  /// Changes with the schema.
  public var schemaCookie: UInt32
  /// 1 to 4.
  public var schemaFormat: UInt32
  /// The largest root page, not 0 under auto_vacuum.
  public var largestRoot: UInt32
  /// The encoding of text.
  public var encoding: TextEncoding
  /// For the application.
  public var userVersion: UInt32
  /// auto_vacuum = incremental.
  public var isIncrementalVacuum: Bool
  /// For the application.
  public var applicationID: UInt32
  /// The change counter at which ``pageCount`` was right.
  public var validFor: UInt32
  /// The SQLite version that wrote last.
  public var writerVersion: UInt32

  /// 0 none, 1 full, 2 incremental.
  public var autoVacuum: Int { largestRoot == 0 ? 0 : isIncrementalVacuum ? 2 : 1 }
  /// The page count may be trusted.
  public var pageCountIsValid: Bool { pageCount > 0 && changeCounter == validFor }
  /// Sizes that follow from the header.
  public var geometry: PageGeometry? {
    PageGeometry(pageSize: pageSize, reserved: reserved, hasPointerMap: largestRoot != 0)
  }

  /// A header for a new file in UTF-8 with schema format 4.
  public init(pageSize: Int, reserved: Int = 0, autoVacuum: Int, version: Version) {
    self.pageSize = pageSize
    self.reserved = reserved
    self.version = version
    changeCounter = 1
    pageCount = 0
    freelistTrunk = 0
    freelistCount = 0
    schemaCookie = 1
    schemaFormat = 4
    largestRoot = autoVacuum == 0 ? 0 : 1
    encoding = .utf8
    userVersion = 0
    isIncrementalVacuum = autoVacuum == 2
    applicationID = 0
    validFor = 1
    // Bytes 96-99 are ours to set: a fixed number, so that the finished bytes do not depend on a library's version
    // (I8).
    writerVersion = 3_040_001
  }

  /// Reads a header.
  ///
  /// - Throws: ``StreamsError``: `notADatabase`, `damagedDatabase` or `unsupported`.
  public init(_ bytes: UnsafeRawBufferPointer, path: String) throws {
    guard bytes.count >= Self.length, bytes.starts(with: Self.magic), let base = bytes.baseAddress else {
      throw StreamsError(.notADatabase, "this is not an SQLite database file", path: path)
    }
    let size = Int(base.bigEndian16(16))
    pageSize = size == 1 ? 65536 : size
    reserved = Int(bytes[20])
    guard let writing = Version(rawValue: bytes[18]), Version(rawValue: bytes[19]) != nil else {
      throw StreamsError(.unsupported, "file format version \(bytes[18])/\(bytes[19]) is not known", path: path)
    }
    version = writing
    changeCounter = base.bigEndian32(24)
    pageCount = base.bigEndian32(28)
    freelistTrunk = base.bigEndian32(32)
    freelistCount = base.bigEndian32(36)
    schemaCookie = base.bigEndian32(40)
    schemaFormat = base.bigEndian32(44)
    largestRoot = base.bigEndian32(52)
    guard let text = TextEncoding(rawValue: max(base.bigEndian32(56), 1)) else {
      throw StreamsError(.damagedDatabase, "text encoding \(base.bigEndian32(56)) is not known", path: path, page: 1)
    }
    encoding = text
    userVersion = base.bigEndian32(60)
    isIncrementalVacuum = base.bigEndian32(64) != 0
    applicationID = base.bigEndian32(68)
    validFor = base.bigEndian32(92)
    writerVersion = base.bigEndian32(96)
    guard geometry != nil, bytes[21] == 64, bytes[22] == 32, bytes[23] == 32, schemaFormat <= 4 else {
      throw StreamsError(.damagedDatabase, "the database header has impossible values", path: path, page: 1)
    }
  }

  /// Writes the 100 bytes.
  public func write(to target: UnsafeMutableRawPointer) {
    target.initializeMemory(as: UInt8.self, repeating: 0, count: Self.length)
    target.copyMemory(from: Self.magic, byteCount: Self.magic.count)
    target.storeBigEndian(UInt16(pageSize == 65536 ? 1 : pageSize), at: 16)
    for (offset, byte) in [version.rawValue, version.rawValue, UInt8(reserved), 64, 32, 32].enumerated() {
      target.storeBytes(of: byte, toByteOffset: 18 + offset, as: UInt8.self)
    }
    let words: [(Int, UInt32)] = [
      (24, changeCounter), (28, pageCount), (32, freelistTrunk), (36, freelistCount), (40, schemaCookie),
      (44, schemaFormat), (52, largestRoot), (56, encoding.rawValue), (60, userVersion),
      (64, isIncrementalVacuum ? 1 : 0), (68, applicationID), (92, validFor), (96, writerVersion),
    ]
    for (offset, word) in words { target.storeBigEndian(word, at: offset) }
  }
}
