import Codecs
import CoreDataStore
import RunSupport
import Streams

/// Bytes of an attribute, wherever they lie.
enum ExternalContent: Equatable {
  case bytes([UInt8])
  /// A file of that name beside the store (B.4).
  case file(String)
}

/// The files beside a store with the values that are too large for its rows.
struct ExternalFiles {
  private let folder: String
  private let fileSystem: any FileSystem

  init(of store: String, _ fileSystem: any FileSystem) {
    (folder, self.fileSystem) = (ExternalDataFolder(store: store).files, fileSystem)
  }

  func path(_ name: String) -> String { FilePaths.join(folder, name) }

  /// Nil for a file that is missing.
  func status(_ name: String) throws -> FileStatus? {
    try fileSystem.status(path(name)).flatMap { $0.isRegularFile ? $0 : nil }
  }

  /// A file as `export` writes it, with its hash.
  func json(withHash name: String) throws -> String {
    guard let status = try status(name) else { return "{\"bytes\":null,\"externalFile\":\"\(name)\"}" }
    var hash = SHA256()
    try FileCopy.forEachPiece(of: path(name), fileSystem) { piece, _ in hash.update(piece) }
    return "{\"bytes\":\(status.size),\"sha256\":\"\(hash.finalize().hexadecimal)\",\"externalFile\":\"\(name)\"}"
  }
}

/// Compares values of two states that may lie beside the stores, by their bytes, and counts files that are missing.
final class ExternalComparison {
  private struct Missing {
    var count: UInt64 = 0
    var first: Int64
  }

  private let fileSystem: any FileSystem
  private var missing: [String: Missing] = [:]

  init(_ fileSystem: any FileSystem) { self.fileSystem = fileSystem }

  /// What is to be known of files that are missing, by property.
  var notes: [String] {
    missing.sorted { NameOrder.codeUnits($0.key, $1.key) }.map { place, found in
      found.count == 1
        ? "\(place) lacks a file with external data, that of object \(found.first)"
        : "\(place) lacks \(found.count.grouped) files with external data, the first one that of object \(found.first)"
    }
  }

  /// Counts a value whose file is missing.
  func look(for name: String, of property: String, key: Int64, in files: ExternalFiles, isOld: Bool) throws {
    guard try files.status(name) == nil else { return }
    let place = "\(property): the \(isOld ? "old" : "new") store"
    missing[place, default: Missing(first: key)].count += 1
  }

  func areEqual(
    _ left: ExternalContent, in leftFiles: ExternalFiles, _ right: ExternalContent, in rightFiles: ExternalFiles
  ) throws -> Bool {
    switch (left, right) {
    case (.bytes(let first), .bytes(let second)): return first == second
    case (.file(let name), .bytes(let bytes)): return try has(bytes, in: name, of: leftFiles)
    case (.bytes(let bytes), .file(let name)): return try has(bytes, in: name, of: rightFiles)
    case (.file(let first), .file(let second)):
      let (one, other) = (try leftFiles.status(first), try rightFiles.status(second))
      // Of files that are missing the name is all there is.
      guard let one, let other else { return one == nil && other == nil && first == second }
      if (one.device, one.inode) == (other.device, other.inode) { return true }
      return try one.size == other.size
        && FileCopy.areEqual(leftFiles.path(first), and: rightFiles.path(second), fileSystem)
    }
  }

  private func has(_ bytes: [UInt8], in name: String, of files: ExternalFiles) throws -> Bool {
    guard try files.status(name)?.size == UInt64(bytes.count) else { return false }
    var place = 0
    var isEqual = true
    try FileCopy.forEachPiece(of: files.path(name), fileSystem) { piece, _ in
      isEqual = isEqual && bytes[place...].starts(with: piece)
      place += min(piece.count, bytes.count - place)
    }
    return isEqual && place == bytes.count
  }
}
