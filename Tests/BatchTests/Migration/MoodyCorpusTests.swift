import Foundation
import GRDB
import Streams
import Testing

@testable import Batch

/// objc.io's Moody, from version to version by its own mapping models, against the stores that Core Data left.
@Suite("Mapping models of a real application", .enabled(if: StoreCorpus.isPresent, "set GODWIT_CORPUS to the corpus"))
struct MoodyCorpusTests {
  private static let name = "objcio+core-data"

  /// What differs beside indexes. Core Data before 2016 named indexes of attributes as it names those of keys, and the comparison
  /// would take such attributes for keys; a uniqueness constraint was no index then.
  private static func differences(_ expected: String, _ actual: String, model: String) throws -> [Substring] {
    let root = try #require(StoreCorpus.root)
    let queue = try DatabaseQueue(path: expected)
    for index in ["ZMOOD_ZREMOTEID_INDEX", "ZMOOD_ZMARKEDFORDELETIONDATE_INDEX"] {
      try queue.write { try $0.execute(sql: "DROP INDEX IF EXISTS \(index)") }
    }
    try queue.close()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "python3", "\(root)/../tools/storediff", "--by", "content", "--model", model, "--ignore-opt", expected, actual,
    ]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(text.contains(" rows compared, "))
    return text.split(separator: "\n").filter { !$0.hasPrefix("index on ") && !$0.contains(" rows compared, ") }
  }

  @Test(
    "Each step by a mapping model gives what Core Data gave",
    arguments: [("Moody 2", "Moody 3"), ("Moody 3", "Moody 4"), ("Moody 4", "Moody 5")])
  func steps(from: String, to: String) throws {
    let root = try #require(StoreCorpus.root)
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("godwit-moody-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for version in [from, to] {
      for suffix in ["", "-wal"] {
        let original = "\(root)/stores/\(Self.name)/\(version).moody\(suffix)"
        guard FileManager.default.fileExists(atPath: original) else { continue }
        try FileManager.default.copyItem(atPath: original, toPath: "\(folder)/\(version).moody\(suffix)")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(folder)/\(version).moody\(suffix)")
      }
    }
    let models = "\(root)/models/\(Self.name)/Moody.xcdatamodeld"
    var request = MigrationJob.Request(
      source: "\(folder)/\(from).moody", output: "\(folder)/result.moody", models: [models],
      mappings: ["\(root)/mappings/\(Self.name)"])
    request.target = .version(to)
    let report = try MigrationJob(fileSystem: LocalFileSystem(), policies: PolicyRegistry()).migrate(
      request, monitor: RunMonitor(interval: request.interval))
    #expect(report.isVerified)
    let found = try Self.differences(
      "\(folder)/\(to).moody", "\(folder)/result.moody", model: "\(models)/\(to).xcdatamodel/contents")
    #expect(found == [])
  }
}
