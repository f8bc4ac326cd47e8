import Streams

/// The folder beside a store with the values that are too large for its rows (B.4): `.<name>_SUPPORT`, where the name
/// is the store's without its extension; in it `_EXTERNAL_DATA` with one file a value, named by a UUID.
public struct ExternalDataFolder: Sendable, Equatable {
  /// Where the folder is, or would be.
  public let path: String
  /// Where its files are.
  public var files: String { FilePaths.join(path, "_EXTERNAL_DATA") }

  /// The folder of a store.
  public init(store: String) {
    let name = FilePaths.name(of: store)
    var stem = Substring(name)
    if let dot = name.lastIndex(of: "."), dot != name.startIndex { stem = name[..<dot] }
    path = FilePaths.join(FilePaths.directory(of: store), ".\(stem)_SUPPORT")
  }
}

/// A value of an attribute that may lie outside the store, as its column holds it (B.4).
public enum ExternalValue: Equatable {
  /// The bytes themselves follow a marker of one byte.
  case inline
  /// The name of a file in the folder: a UUID of 36 characters.
  case file(String)
  /// Neither; Core Data never writes such a value.
  case unknown

  private static let referenceLength = 38

  package init(_ bytes: UnsafeRawBufferPointer) {
    switch bytes.first {
    case 1: self = .inline
    case 2 where bytes.count == Self.referenceLength && bytes.last == 0:
      self = .file(String(decoding: bytes[1..<(bytes.count - 1)], as: UTF8.self))
    default: self = .unknown
    }
  }
}
