import Foundation
import GRDB
import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import StoreVerification

// Needs real stores, which are no part of the package.
@Suite("Verification of real stores", .enabled(if: StoreCorpus.isPresent, "no corpus (GODWIT_CORPUS)"))
struct VerificationCorpusTests {
  /// A copy in one file: what stands in a -wal is brought in by SQLite.
  private static func withWhole<Result>(_ entry: StoreCorpus.Entry, _ body: (String) throws -> Result) throws -> Result
  {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("real-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let copy = folder.appendingPathComponent("copy.sqlite").path
    for suffix in ["", "-wal"] {
      let source = (StoreCorpus.root ?? "") + "/" + entry.path + suffix
      guard suffix.isEmpty || FileManager.default.fileExists(atPath: source) else { continue }
      try FileManager.default.copyItem(atPath: source, toPath: copy + suffix)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy + suffix)
    }
    let queue = try DatabaseQueue(path: copy)
    try queue.inDatabase { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
    try queue.close()
    return try body(copy)
  }

  private static let models: [[String: [UInt8]]: ManagedObjectModel] = ModelCorpus.versions.values.reduce(into: [:]) {
    $0[$1.versionHashes] = $1
  }

  private static func hashes(_ path: String) throws -> [String: [UInt8]]? {
    var found: [String: [UInt8]]?
    try StoreConnection(path: path).rows("SELECT Z_UUID, Z_PLIST FROM Z_METADATA") { row in
      found = try? StoreMetadata(uuid: row.text(0) ?? "", plist: row.blob(1)).versionHashes
    }
    return found
  }

  /// The model that the store's hashes name; else one that was decoded from the store's own cache, which lacks what
  /// only matters to hashes.
  private static func model(
    of path: String, _ entry: StoreCorpus.Entry
  ) throws -> (model: ManagedObjectModel, isWhole: Bool)? {
    guard let hashes = try? hashes(path) else { return nil }
    if let model = models[hashes] { return (model, true) }
    guard let decoded = entry.model, decoded.hasSuffix(".json") else { return nil }
    return (try StoreModelReader.read((StoreCorpus.root ?? "") + "/" + decoded), false)
  }

  @Test("Stores that Core Data wrote pass; what does not pass is known and has its reason")
  func stores() throws {
    var (count, whole, rows, outside) = (0, 0, UInt64(0), 0)
    var violations: [String: [String]] = [:]
    var warnings: [String: UInt64] = [:]
    for entry in try StoreCorpus.stores() {
      try Self.withWhole(entry) { path in
        guard let (model, isWhole) = try Self.model(of: path, entry) else { return }
        let report = try StoreVerifier(path: path, model: model).verify()
        count += 1
        if isWhole { whole += 1 }
        rows += report.tables.reduce(0) { $0 + $1.rows }
        // The copies have no folders of external data.
        outside += report.violations.count { $0.kind == .externalData }
        for violation in report.violations
        where violation.kind != .externalData && (isWhole || violation.kind != .metadata) {
          violations[entry.path, default: []].append(violation.description)
        }
        for warning in report.warnings { warnings[warning.kind.description, default: 0] += warning.count }
      }
    }
    print("verification: \(count) real stores (\(whole) with whole models) with \(rows) rows")
    #expect(count == 67)
    #expect(whole == 61)
    #expect(outside == 21)
    // A store made to be broken: its metadata names a model whose columns it lacks.
    let broken = violations.removeValue(forKey: "stores/apptentive+apptentive-ios/v2CorruptDatabase/ATDataModel.sqlite")
    #expect(broken?.count == 1)
    // Users 3, 5, 6 and 10 were deleted below Core Data; four columns and tables still name them.
    let wire = violations.removeValue(forKey: "stores/wireapp+wire-ios-data-model/store1-27.wiredatabase")
    #expect(
      wire?.map { String($0.prefix { $0 != ":" }) } == [
        "Connection 4, to", "Conversation 3, creator",
        "Conversation 3, lastServerSyncedActiveParticipants", "Conversation 3, otherActiveParticipants",
      ])
    #expect(wire?.allSatisfy { $0.contains("leads to no row") && $0.hasSuffix("4 times") } == true)
    #expect(violations == [:])
    // History and its numbers; tables of other frameworks; three note stores whose states point at nobody.
    #expect(warnings == ["schema": 15, "primary-keys": 9, "one-sided": 60])
  }
}
