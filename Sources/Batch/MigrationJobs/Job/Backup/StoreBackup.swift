import CoreDataStore
import Foundation
import Streams

/// An old store that is kept beside a store: replaced by a migration, or set aside by a rollback.
public struct StoreBackup: Sendable, Equatable {
  /// Why it is there.
  public enum Kind: String, Sendable, CaseIterable {
    /// A migration replaced it; a rollback puts it back.
    case replaced = "backup"
    /// A rollback replaced it.
    case setAside = "rolled-back"
  }

  /// Its path: `<store>.backup-<time>` or `<store>.rolled-back-<time>`, with two dots where the store's name has no
  /// extension.
  public let path: String
  /// The store that it belongs to.
  public let store: String
  /// Why it is there.
  public let kind: Kind
  /// When it was made, as its name says: `20250131T120000Z`.
  public let stamp: String

  /// A backup by its path, or nil for any other file.
  package init?(path: String) {
    guard let dot = path.lastIndex(of: ".") else { return nil }
    let suffix = path[path.index(after: dot)...]
    var store = path[..<dot]
    if store.hasSuffix("."), !FilePaths.name(of: String(store.dropLast())).contains(".") { store = store.dropLast() }
    guard let kind = Kind.allCases.first(where: { suffix.hasPrefix($0.rawValue + "-") }) else { return nil }
    stamp = String(suffix.dropFirst(kind.rawValue.count + 1))
    guard Self.time(stamp) != nil, !FilePaths.name(of: String(store)).isEmpty else { return nil }
    self.path = path
    self.kind = kind
    self.store = String(store)
  }

  /// The name of a store's backup that is made with a suffix. Core Data's rule leaves out what follows a name's last
  /// dot, and finds the folder of external data by the rest: a store without extension would share its own folder with
  /// its backup, except for a second dot.
  static func path(of store: String, suffix: String) -> String {
    store + (FilePaths.name(of: store).dropFirst().contains(".") ? "." : "..") + suffix
  }

  /// The suffix of a backup that is made at an instant, in seconds since 2001.
  static func suffix(_ kind: Kind, _ now: Double) -> String {
    let stamp = Date(timeIntervalSinceReferenceDate: now).formatted(
      .iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
    return "\(kind.rawValue)-\(stamp)"
  }

  /// The same, or of the next second in which nothing has the name nor lies beside it.
  static func freeSuffix(_ kind: Kind, of store: String, now: Double, fileSystem: any FileSystem) throws -> String {
    var moment = now
    while true {
      let suffix = suffix(kind, moment)
      let path = path(of: store, suffix: suffix)
      let isFree = try ["", "-wal", "-journal"].allSatisfy { try fileSystem.statusOfName(path + $0) == nil }
      if isFree { return suffix }
      moment += 1
    }
  }

  /// When it was made, in seconds since 2001.
  var made: Double { Self.time(stamp) ?? 0 }

  /// The moment that a name says, in seconds since 2001; nil for anything else.
  static func time(_ stamp: String) -> Double? {
    guard stamp.utf8.count == 16, stamp.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    let style = Date.ISO8601FormatStyle(dateSeparator: .omitted, dateTimeSeparator: .standard, timeSeparator: .omitted)
    return (try? style.parse(stamp))?.timeIntervalSinceReferenceDate
  }

  /// All backups in a directory, oldest first. Nothing is written.
  static func all(in directory: String, _ fileSystem: any FileSystem) throws -> [StoreBackup] {
    try fileSystem.list(directory).compactMap { StoreBackup(path: FilePaths.join(directory, $0)) }
      .filter { try fileSystem.statusOfName($0.path)?.isRegularFile == true }
      .sorted { ($0.stamp, $0.path) < ($1.stamp, $1.path) }
  }

  /// The backups of one store, oldest first.
  static func all(of store: String, _ fileSystem: any FileSystem) throws -> [StoreBackup] {
    try all(in: FilePaths.directory(of: store), fileSystem).filter { $0.store == store }
  }

  /// The store as SQLite sees it, what a rollback wants to know of it, and its values outside.
  private var companions: [String] { ["-wal", "-shm", "-journal"].map { path + $0 } + [BackupReceipt.path(of: path)] }

  /// Bytes that its removal frees. A file with another name beside it frees nothing; that is not looked at.
  func bytes(_ fileSystem: any FileSystem) throws -> UInt64 {
    try ([path] + companions).reduce(0) { try $0 + (fileSystem.statusOfName($1)?.size ?? 0) }
  }

  /// Removes it with all that belongs to it; durable on return. The store goes first: what a crash leaves is no backup
  /// any longer.
  func remove(_ fileSystem: any FileSystem) throws {
    let isOwned = try BackupReceipt.read(for: path, fileSystem)?.ownsFolder == true
    for file in [path] + companions { try fileSystem.remove(file) }
    try Self.removeFolder(of: path, isOwned: isOwned, fileSystem)
    try fileSystem.syncDirectory(FilePaths.directory(of: path))
  }

  /// Removes the folder of external data of a backup that is gone, where this program made it and nothing else has its
  /// name.
  static func removeFolder(of backup: String, isOwned: Bool, _ fileSystem: any FileSystem) throws {
    guard isOwned, try isUnused(ExternalDataFolder(store: backup), fileSystem) else { return }
    try ExternalDataCopy(fileSystem: fileSystem).remove(from: backup)
  }

  /// Removes backups of a store beyond a limit, and returns them. `latest` is the one that was made last. Stores that a
  /// rollback set aside are no backups of a migration: they may be the only ones with what was written before it.
  static func remove(
    beyond limit: BackupLimit, of store: String, latest: String?, _ fileSystem: any FileSystem
  ) throws -> [String] {
    let backups = try all(of: store, fileSystem).filter { $0.kind == .replaced }
    let surplus = limit.surplus(backups, latest: latest, now: Date().timeIntervalSinceReferenceDate)
    for backup in surplus { try backup.remove(fileSystem) }
    return surplus.map(\.path)
  }

  /// Backups of one store share a folder of external data, since the folder's name leaves out all after the last dot.
  private static func isUnused(_ folder: ExternalDataFolder, _ fileSystem: any FileSystem) throws -> Bool {
    let directory = FilePaths.directory(of: folder.path)
    return try fileSystem.list(directory).allSatisfy { name in
      let path = FilePaths.join(directory, name)
      let isCompanion = [".json", "-wal", "-shm", "-journal"].contains { name.hasSuffix($0) }
      return isCompanion || ExternalDataFolder(store: path) != folder
    }
  }
}

/// How many backups of a store stay.
public enum BackupLimit: Sendable, Equatable, Codable {
  /// The newest ones.
  case count(Int)
  /// Those that are not older than that many days.
  case days(Int)

  /// Of backups of one store, oldest first, those that need not stay. Their names say when they were made by clocks
  /// that may have been wrong, or were set meanwhile: `latest`, which was made just now, is the newest whatever they
  /// say.
  func surplus(_ backups: [StoreBackup], latest: String? = nil, now: Double) -> [StoreBackup] {
    switch self {
    case .count(let count):
      return Array(
        (backups.filter { $0.path != latest } + backups.filter { $0.path == latest }).dropLast(max(0, count)))
    case .days(let days):
      return backups.filter { $0.made < now - Double(max(0, days)) * 86_400 && (days <= 0 || $0.path != latest) }
    }
  }
}
