import RunSupport
import Streams

/// What a file is that somebody took for an SQLite store, by its first bytes.
package enum FileKind {
  case empty
  case xmlStore
  case xml
  case binaryStore
  case propertyList
  case archive
  case encrypted
  case unknown

  private static let length = 4096

  /// Reads the beginning of a file that is no SQLite database.
  package static func of(_ path: String, _ fileSystem: any FileSystem) throws -> FileKind {
    let (head, size) = try head(path, fileSystem)
    return of(head, size: size)
  }

  /// Whether a file begins as an SQLite database does.
  package static func isDatabase(_ path: String, _ fileSystem: any FileSystem) throws -> Bool {
    try head(path, fileSystem).bytes.starts(with: "SQLite format 3\0".utf8)
  }

  /// What a file is that is neither an SQLite database nor an XML store; nil for one of them.
  package static func other(_ path: String, _ fileSystem: any FileSystem) throws -> FileKind? {
    guard try !isDatabase(path, fileSystem) else { return nil }
    let kind = try of(path, fileSystem)
    return kind == .xmlStore ? nil : kind
  }

  /// SQLCipher can leave 32 bytes of the header plain (cipher_plaintext_header_size), as applications with a shared
  /// container on iOS need it: such a file begins like a database, and the rest of its first page is noise.
  static func isEncryptedBehindHeader(_ path: String, _ fileSystem: any FileSystem) throws -> Bool {
    let (head, _) = try head(path, fileSystem)
    return head.count == length && isNoise(head.dropFirst(32))
  }

  private static func head(_ path: String, _ fileSystem: any FileSystem) throws -> (
    bytes: ArraySlice<UInt8>, size: UInt64
  ) {
    let file = try fileSystem.open(path, .read)
    defer { file.close() }
    var bytes = [UInt8](repeating: 0, count: length)
    let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
    return (bytes[..<count], try file.size())
  }

  static func of(_ head: ArraySlice<UInt8>, size: UInt64) -> FileKind {
    guard !head.isEmpty else { return .empty }
    let text = String(decoding: head.prefix(1024), as: UTF8.self)
    if text.contains("<!DOCTYPE database") || text.contains("<database>") || text.contains("<databaseInfo>") {
      return .xmlStore
    }
    if text.hasPrefix("<?xml") { return .xml }
    if head.starts(with: "CoreData".utf8) { return .binaryStore }
    if head.starts(with: "bplist".utf8) { return .propertyList }
    let magics: [[UInt8]] = [[0x1f, 0x8b], [0x50, 0x4b, 3, 4], [0x04, 0x22, 0x4d, 0x18], [0x28, 0xb5, 0x2f, 0xfd]]
    if magics.contains(where: { head.starts(with: $0) }) { return .archive }
    // An encrypted database is whole pages of bytes that look like noise.
    return size.isMultiple(of: 512) && head.count >= 512 && isNoise(head) ? .encrypted : .unknown
  }

  /// In noise every byte occurs about equally often; in 4096 of them nearly all occur, in 512 most.
  private static func isNoise(_ head: ArraySlice<UInt8>) -> Bool {
    var counts = [Int](repeating: 0, count: 256)
    for byte in head { counts[Int(byte)] += 1 }
    let expected = Double(head.count) / 256
    let deviation = counts.reduce(0.0) { $0 + (Double($1) - expected) * (Double($1) - expected) / expected }
    // A chi-square of 255 degrees of freedom: noise stays near 255, text and structures are in the thousands.
    return deviation < 400
  }

  /// The error of a path where an SQLite store was to be.
  package func refusal(of path: String) -> BatchError {
    let (message, hint) = explanation(of: path)
    // An XML store is none that is damaged, and can become an SQLite store.
    return BatchError(self == .xmlStore ? .xmlStore : .badStore, message, hint: hint, path: path)
  }

  /// A path beside a store for an SQLite store that is made of it.
  package static func freeOutput(for path: String) -> String {
    let stem = FilePaths.name(of: path).split(separator: ".").first.map(String.init) ?? "Store"
    let outputs = [".sqlite", ".new.sqlite"].map { FilePaths.join(FilePaths.directory(of: path), stem + $0) }
    return outputs.first { (try? LocalFileSystem().statusOfName($0)) ?? nil == nil } ?? outputs[1]
  }

  /// What becomes of an XML store; how an SQLite store is made of it follows.
  package static let xmlHint =
    "`inspect`, `export` and `sample --limit` read it as it is; for all else make an SQLite store of it first"
  /// The way, where nobody knows its models.
  package static let xmlWay =
    "`migrate`, its models behind --models (the application's .xcdatamodeld, .momd or .mom), and a new path behind --output"

  /// What a person has to know: what the file is, and what to do.
  func explanation(of path: String) -> (message: String, hint: String) {
    switch self {
    case .empty: ("the file is empty", "Check the path of the store, or restore it from a backup")
    case .xmlStore:
      (
        "this is an XML store of Core Data, not an SQLite store",
        "\(Self.xmlHint), with \(Self.xmlWay)"
      )
    case .xml: ("this is an XML file, not an SQLite store", "Check the path of the store")
    case .binaryStore:
      (
        "this is a binary store of Core Data, not an SQLite store",
        "Migrate it to an SQLite store with its application (migratePersistentStore), on a system with Core Data"
      )
    case .propertyList:
      ("this is a binary property list, as compiled models are, not an SQLite store", "Check the path of the store")
    case .archive: ("this is a compressed file, not an SQLite store", "Unpack it first")
    case .encrypted:
      (
        "this is no SQLite database; it looks like one that is encrypted, as by SQLCipher",
        "Decrypt it with its application's key, with sqlcipher_export for example, and migrate the result"
      )
    case .unknown: ("this is no SQLite database", "Check that the path names a store")
    }
  }
}
