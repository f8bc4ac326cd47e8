import RunSupport
import Streams

/// How far the files of an import were read: the beginning of what a checkpoint says of them.
struct ImportPosition {
  /// In the file at hand.
  struct Place {
    let offset: UInt64
    let line: Int
    let bytesRead: UInt64
    /// Of the bytes that were read.
    let digest: [UInt8]
    let before: UInt64
    /// Of CSV.
    let header: [String]?
  }

  /// The number of the file at hand, which is that of the files before it.
  let position: Int
  /// Nil between files.
  let place: Place?
  let objects: UInt64
  let rejects: UInt64
  let uuid: String?
  let uris: String?
  let emptyFiles: [String]
  let externalFiles: Set<String>
  /// Those of the contents of the files before.
  let digests: [[UInt8]]

  init(from state: inout ByteReader, files: Int) throws {
    position = try state.readInt()
    place = try state.readOptional { state in
      Place(
        offset: try state.readUInt64(), line: try state.readInt(), bytesRead: try state.readUInt64(),
        digest: try state.readBytes(cap: 64), before: try state.readUInt64(),
        header: try state.readOptional { try $0.readArray { try $0.readString() } })
    }
    (objects, rejects) = (try state.readUInt64(), try state.readUInt64())
    (uuid, uris) = (try state.readOptional { try $0.readString() }, try state.readOptional { try $0.readString() })
    (emptyFiles, externalFiles) = (
      try state.readArray { try $0.readString() }, Set(try state.readArray { try $0.readString() })
    )
    digests = try state.readArray { try $0.readBytes(cap: 64) }
    guard 0...files ~= position, digests.count == position, place == nil || position < files else {
      throw state.damaged("a position in no file")
    }
  }

  static func changed(_ path: String) -> BatchError {
    BatchError(.badCheckpoint, "the file was changed since the import read it", path: path)
  }

  /// The first of the files whose bytes are not those that were read; nil if there is none. What `isKnown` says to be as
  /// it was is not read.
  func changedFile(
    of paths: [String], _ fileSystem: any FileSystem, isKnown: (String) throws -> Bool
  ) throws -> String? {
    for (path, digest) in zip(paths, digests) where try !isKnown(path) {
      guard try ImportFiles.digest(path, fileSystem) == digest else { return path }
    }
    guard let place, case let path = paths[position], try !isKnown(path) else { return nil }
    return try ImportFiles.digest(path, fileSystem, upTo: place.bytesRead) == place.digest ? nil : path
  }
}
