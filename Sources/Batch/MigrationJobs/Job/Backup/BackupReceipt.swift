import CoreDataStore
import Foundation
import Streams

/// `<backup>.json`: which store took the place of a backup, so that a rollback knows whether that one was written
/// since.
///
/// It names no paths: backup, receipt and store may be moved together. Layout: FORMAT.md, "Backups".
struct BackupReceipt: Codable, Equatable {
  static let currentFormat = 1

  var format = BackupReceipt.currentFormat
  /// The new store at its cut-over.
  var new: StoreState
  /// Whether the backup's folder of external data is one that this program made for backups. It is removed with the
  /// last of them then.
  var ownsFolder: Bool?

  init(new: StoreState, ownsFolder: Bool) { (self.new, self.ownsFolder) = (new, ownsFolder) }

  static func path(of backup: String) -> String { backup + ".json" }

  /// Durable when the directory is synced.
  func write(for backup: String, _ fileSystem: any FileSystem) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    let path = Self.path(of: backup)
    try fileSystem.writeAndSync(Array(try encoder.encode(self)), to: path + ".new")
    try fileSystem.rename(path + ".new", to: path)
  }

  /// Nil if there is none that can be understood: then nothing is known of the new store.
  static func read(for backup: String, _ fileSystem: any FileSystem) throws -> BackupReceipt? {
    let path = path(of: backup)
    guard let status = try fileSystem.statusOfName(path), status.isRegularFile, status.size <= 1 << 16 else {
      return nil
    }
    let receipt = try? JSONDecoder().decode(BackupReceipt.self, from: Data(try fileSystem.readAll(path, cap: 1 << 16)))
    return receipt?.format == currentFormat ? receipt : nil
  }
}

/// What a store was at a moment, in a way that every later write shows.
package struct StoreState: Codable, Equatable {
  /// The source fingerprint of FORMAT.md, hexadecimal.
  package var fingerprint: String
  /// Last change of the main file, nanoseconds since 1970: in WAL mode a change can leave page 1, and with it the
  /// counter, as it was.
  package var modified: Int64

  /// Looks at a store; its `-wal` counts. Nothing is written.
  package init(_ path: String, _ fileSystem: any FileSystem) throws {
    let snapshot = try DatabaseSnapshot(path: path, fileSystem: fileSystem, locking: .none)
    defer { snapshot.close() }
    try self.init(path, snapshot: snapshot, fileSystem: fileSystem)
  }

  /// A store that is open.
  init(_ path: String, snapshot: DatabaseSnapshot, fileSystem: any FileSystem) throws {
    fingerprint = PlanFingerprint.hex(try SourceFingerprint.of(snapshot))
    modified = try fileSystem.status(path)?.modified ?? 0
  }
}
