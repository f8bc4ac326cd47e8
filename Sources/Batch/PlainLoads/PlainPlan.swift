import Foundation
import MigrationJobs
import Migrations
import RunSupport
import Streams

/// What a load says of itself to others, as long as it works.
struct PlainPlan: Codable {
  private var format = 1
  var source: String
  var target: String
  var destination: String
  /// The command that begins anew.
  var command: String?

  init(_ plan: MigrationPlan, to destination: String, by advice: PlainAdvice) {
    let whole = try? JobDirectory(destination: plan.source).destination
    (source, target, self.destination) = (whole ?? plan.source, plan.targetVersion.name, destination)
    command = advice.again()?.line
  }

  func write(to job: JobDirectory, _ fileSystem: any FileSystem) throws {
    try fileSystem.writeDurably([UInt8](try JSONEncoder().encode(self)), to: job.plan)
  }

  /// Nil if it cannot be read: nobody goes on from it.
  static func read(_ job: JobDirectory, _ fileSystem: any FileSystem) -> PlainPlan? {
    (try? fileSystem.readAll(job.plan, cap: 1 << 20)).flatMap {
      try? JSONDecoder().decode(PlainPlan.self, from: Data($0))
    }
  }
}

/// By what a file of ordinary tables is known: the application ID of its header (SQLite, "Database File Format", 1.3.17).
enum PlainMark {
  /// `GdwP`.
  static let number: UInt32 = 0x4764_7750

  static func isThere(_ path: String, _ fileSystem: any FileSystem) -> Bool {
    guard let status = try? fileSystem.status(path), status.isRegularFile, let file = try? fileSystem.open(path, .read)
    else { return false }
    defer { file.close() }
    var head = [UInt8](repeating: 0, count: 72)
    guard (try? head.withUnsafeMutableBytes({ try file.read(into: $0, at: 0) })) == head.count else { return false }
    return head.starts(with: Array("SQLite format 3\0".utf8))
      && head[68...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } == number
  }
}
