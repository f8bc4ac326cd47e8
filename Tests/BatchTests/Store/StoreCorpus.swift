import Foundation
import GRDB

@testable import CoreDataStore

/// Real stores and models, when they are at hand: by GODWIT_CORPUS, or in `shared/corpus` above the sources.
enum StoreCorpus {
  static let root: String? = {
    let files = FileManager.default
    if let path = ProcessInfo.processInfo.environment["GODWIT_CORPUS"] {
      return files.fileExists(atPath: path) ? path : nil
    }
    var folder = URL(fileURLWithPath: #filePath)
    while folder.path != "/" {
      folder.deleteLastPathComponent()
      let candidate = folder.appendingPathComponent("shared/corpus").path
      if files.fileExists(atPath: candidate) { return candidate }
    }
    return nil
  }()

  static let isPresent = root != nil

  struct Entry {
    let path: String
    let framework: Int
    let notes: String
    /// The model version that its notes name: path of its XML below the corpus, or of the decoded JSON.
    let model: String?
    let isExact: Bool
  }

  /// All stores of the index.
  static func stores() throws -> [Entry] {
    guard let root else { return [] }
    let text = try String(contentsOfFile: root + "/INDEX.tsv", encoding: .utf8)
    return text.split(separator: "\n").dropFirst().compactMap { line in
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard fields.count == 8, fields[0] == "store" else { return nil }
      let notes = fields[7]
      return Entry(
        path: fields[1], framework: Int(fields[4]) ?? 0, notes: notes, model: modelPath(notes, repository: fields[2]),
        isExact: notes.hasPrefix("model: ") && !notes.contains("schema diff"))
    }
  }

  private static func modelPath(_ notes: String, repository: String) -> String? {
    if let range = notes.range(of: "decoded decoded-models/") {
      let rest = notes[range.upperBound...].prefix { $0 != ";" }
      return "decoded-models/" + rest.trimmingCharacters(in: .whitespaces)
    }
    guard notes.hasPrefix("model: ") else { return nil }
    var name = String(notes.dropFirst(7).prefix { $0 != ";" })
    if let other = name.range(of: " OR ") { name = String(name[..<other.lowerBound]) }
    return "models/\(repository)/\(name.trimmingCharacters(in: .whitespaces))/contents"
  }

  /// Copies a store with its log: other tests may have locks on the original.
  static func copy(_ entry: Entry, to path: String) throws {
    guard let root else { return }
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: "\(root)/\(entry.path)\(suffix)") {
      try FileManager.default.copyItem(atPath: "\(root)/\(entry.path)\(suffix)", toPath: path + suffix)
    }
  }

  /// All model XML files below `models`.
  static func modelFiles() -> [String] {
    guard let root, let walk = FileManager.default.enumerator(atPath: root + "/models") else { return [] }
    return walk.compactMap { $0 as? String }.filter { $0.hasSuffix(".xcdatamodel/contents") }.sorted().map {
      "models/" + $0
    }
  }

  /// Runs a body on a copy of a store, its WAL included: the originals are never opened.
  static func withCopy<Result>(_ entry: Entry, _ body: (Database) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("store-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let copy = folder.appendingPathComponent("copy.sqlite").path
    for suffix in ["", "-wal"] {
      let source = (root ?? "") + "/" + entry.path + suffix
      guard suffix.isEmpty || FileManager.default.fileExists(atPath: source) else { continue }
      try FileManager.default.copyItem(atPath: source, toPath: copy + suffix)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy + suffix)
    }
    let queue = try DatabaseQueue(path: copy)
    defer { try? queue.close() }
    return try queue.inDatabase(body)
  }

  /// The schema as a page reader would deliver it.
  static func schemaRows(_ database: Database) throws -> [SchemaRow] {
    try Row.fetchAll(database, sql: "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master").map { row in
      SchemaRow(
        type: row["type"], name: row["name"], tableName: row["tbl_name"], rootPage: row["rootpage"], sql: row["sql"])
    }
  }
}
