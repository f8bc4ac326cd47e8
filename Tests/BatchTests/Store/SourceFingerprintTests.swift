import Foundation
import GRDB
import Streams
import Testing

@testable import Codecs
@testable import CoreDataStore

/// The fingerprint by which a run knows its source again has the definition of FORMAT.md, whatever the number of pages.
@Suite("The source fingerprint", .serialized)
struct SourceFingerprintTests {
  /// FORMAT.md, "Source fingerprint", of a file without a log, from its bytes.
  static func defined(_ bytes: [UInt8], pageSize: Int) -> [UInt8] {
    let pages = bytes.count / pageSize
    func big(_ value: Int, _ length: Int) -> [UInt8] {
      (0..<length).map { UInt8(truncatingIfNeeded: value >> (8 * (length - 1 - $0))) }
    }
    let little = { (value: Int, length: Int) in Array(big(value, length).reversed()) }
    var covered = little(bytes.count, 8) + little(0, 8) + little(0, 8) + little(pages, 4)
    for page in stride(from: 0, to: pages, by: max(1, pages / 64)) {
      covered += bytes[page * pageSize..<(page + 1) * pageSize]
    }
    return SHA256.hash(covered, portable: true)
  }

  @Test("It is that of the definition", arguments: [512, 65536])
  func definition(pageSize: Int) throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("fingerprint-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA page_size = \(pageSize)") }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    defer { try? queue.close() }
    try queue.write { try $0.execute(sql: "CREATE TABLE t (b)") }
    var seen: Set<Int> = []
    for _ in 0..<140 {
      // A row a page.
      try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (randomblob(?))", arguments: [pageSize * 2 / 3]) }
      let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
      let snapshot = try Streams.DatabaseSnapshot(path: path, fileSystem: LocalFileSystem(), locking: .none)
      defer { snapshot.close() }
      let pages = bytes.count / pageSize
      #expect(try SourceFingerprint.of(snapshot) == Self.defined(bytes, pageSize: pageSize), "\(pages) pages")
      seen.insert(pages)
    }
    #expect(seen.isSuperset(of: [63, 64, 65, 127, 128, 129]), "\(seen.sorted())")
  }
}
