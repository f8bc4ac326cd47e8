import Foundation
import GRDB
import Streams
import Testing

@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

/// Real stores, written again under their own models.
@Suite(.enabled(if: StoreCorpus.isPresent, "needs real stores: set GODWIT_CORPUS"))
struct IdentityCorpusTests {
  /// Stores that contradict their own metadata, with what the refusal says.
  static let contradicting = [
    "apptentive+apptentive-ios/v2CorruptDatabase/ATDataModel.sqlite": "ZCUSTOMDATA"
  ]
  private func models(_ entry: StoreCorpus.Entry) -> [String] {
    guard let root = StoreCorpus.root else { return [] }
    let repository = String(entry.path.split(separator: "/")[1])
    // Stores of frameworks before 637 carry no model.
    return entry.framework < 637 ? ["\(root)/models/\(repository)"] : []
  }

  @Test("68 of the 69 stores are the same afterwards, their model caches byte for byte; one contradicts its metadata")
  func everyStore() throws {
    let root = try #require(StoreCorpus.root)
    let stores = try StoreCorpus.stores()
    #expect(stores.count == 69)
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("godwit-identity-\(UUID().uuidString)")
      .path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var same = 0
    for (number, entry) in stores.enumerated() {
      let name = String(entry.path.dropFirst("stores/".count))
      let (source, output) = ("\(folder)/\(number)-old.sqlite", "\(folder)/\(number).sqlite")
      try StoreCorpus.copy(entry, to: source)
      var request = MigrationJob.Request(source: source, output: output, models: models(entry))
      request.target = .identity
      do {
        let report = try MigrationJob().migrate(request, monitor: RunMonitor(interval: request.interval))
        #expect(report.isVerified)
        let differences = try Self.storediff(source, output, root: root) + Self.changedRows(source, output)
        #expect(differences == "", "\(name): \(differences)")
        if differences == "" { same += 1 }
      } catch let error as BatchError {
        let part = try #require(Self.contradicting[name], "\(name): \(error)")
        #expect(error.code == .badStore && error.message.contains(part), "\(error)")
      }
    }
    #expect(same == 68)
  }

  /// Tables with rows of which any column changed, also one that the row's entity does not have.
  static func changedRows(_ expected: String, _ actual: String) throws -> String {
    let queue = try DatabaseQueue(path: actual)
    try queue.writeWithoutTransaction { try $0.execute(sql: "ATTACH ? AS old", arguments: [expected]) }
    return try queue.read { db in
      let tables = try String.fetchAll(
        db,
        sql:
          "SELECT m.name FROM sqlite_master m, pragma_table_info(m.name) i WHERE m.type = 'table' AND i.name = 'Z_PK'")
      return try tables.filter { table in
        let name = "\"\(table)\""
        let changed = "SELECT count(*) FROM (SELECT * FROM old.\(name) EXCEPT SELECT * FROM main.\(name))"
        return try Int.fetchOne(db, sql: changed) != 0
      }.joined(separator: ", ")
    }
  }

  /// What the comparison by meaning says; empty when nothing differs.
  static func storediff(_ expected: String, _ actual: String, root: String) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "\(root)/../tools/storediff", "--model-cache", "--limit", "5", expected, actual]
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return process.terminationStatus == 0 ? "" : text
  }
}
