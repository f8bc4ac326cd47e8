import Foundation
import MappingModels
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
  /// Where the record types go.
  var records: String?

  init(_ plan: MigrationPlan, to destination: PlainDestination, at place: PlainPlace, by advice: PlainAdvice) {
    let whole = try? JobDirectory(destination: plan.source).destination
    (source, target, self.destination) = (whole ?? plan.source, plan.targetVersion.name, place.path)
    (command, records) = (advice.again()?.line, destination.records.map(PlainPlace.absolute))
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
