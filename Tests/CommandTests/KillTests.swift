import Foundation
import Glibc
import Streams
import Testing

@testable import CoreDataStore
@testable import MigrationJobs

// The long version is scripts/kill-campaign. Serialized: a kill's moment means something only while nothing else runs.
@Suite("Runs that are killed at any moment", .serialized)
struct KillTests {
  private static let rows = 12_000
  private static let runs = 6

  /// Migrates a store undisturbed; returns its bytes and how long it took.
  private func reference(_ source: String, _ folder: CommandFolder) throws -> (bytes: Data, seconds: Double) {
    let output = folder.file("reference.sqlite")
    let start = ContinuousClock.now
    let outcome = try folder.run("book-migration", arguments(source, output: output))
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    #expect(outcome.code == 0, "\(outcome)")
    return (try CommandFolder.bytes(output), seconds)
  }

  private func arguments(_ source: String, output: String?) -> [String] {
    let place = output.map { ["--output", $0] } ?? []
    return ["migrate", source, "--checkpoint-every", "50kB"] + place + CommandFolder.models
  }

  @Test("They end with the bytes of an undisturbed run", arguments: [true, false])
  func identical(inPlace: Bool) throws {
    let seed = inPlace ? 20_240_501 as UInt64 : 20_240_502
    print("kill test: in place \(inPlace), seed \(seed), \(Self.rows) rows, \(Self.runs) runs")
    let folder = try CommandFolder()
    let source = try folder.sample(rows: Self.rows, seed: seed)
    let original = try CommandFolder.bytes(source)
    let (wanted, seconds) = try reference(source, folder)
    var random = ExampleRandom(state: seed)
    var kills = 0
    // Twelve kills are meant. Where the machine is busy some runs end before theirs, and further runs make up for them.
    for run in 0..<6 * Self.runs where run < Self.runs || kills < Self.runs {
      let place = folder.file("run-\(run).sqlite")
      if inPlace { try original.write(to: URL(fileURLWithPath: place)) }
      let begin = inPlace ? arguments(place, output: nil) : arguments(source, output: place)
      kills += try drive(folder, begin, destination: place, seconds: seconds, kills: 1 + run % 3, &random)
      #expect(try CommandFolder.bytes(place) == wanted, "run \(run), seed \(seed)")
      try expectTidy(folder, place, backup: inPlace ? original : nil)
    }
    #expect(try CommandFolder.bytes(source) == original)
    #expect(kills > 0)
    print("kill test: in place \(inPlace), \(Self.runs) runs, \(kills) kills, all identical")
  }

  /// Starts a run, kills it and its resumes that often, and lets it finish. Returns how many processes were killed.
  private func drive(
    _ folder: CommandFolder, _ begin: [String], destination: String, seconds: Double, kills: Int,
    _ random: inout ExampleRandom
  ) throws -> Int {
    var killed = 0
    let job = try JobDirectory(destination: destination).path
    func isBegun() -> Bool {
      ["/plan.json", "/cutover.json"].contains { FileManager.default.fileExists(atPath: job + $0) }
    }
    for attempt in 0..<40 {
      let process = try CommandProcess("book-migration", isBegun() ? ["resume", destination] : begin, in: folder)
      if attempt < kills {
        usleep(UInt32(seconds * 1e6 * Double(random.next(1000)) / 1000 / Double(attempt + 1)))
        process.send(SIGKILL)
      }
      let outcome = try process.wait()
      if outcome.code == 0 { return killed }
      guard outcome.code == 128 + SIGKILL else { throw CommandProcess.Missing(description: "\(outcome)") }
      killed += 1
      if try !isBegun() && isMigrated(destination) {
        // Killed after the end of the run: nothing is left to resume, at most an empty directory to remove.
        #expect(try folder.run("book-migration", ["resume", destination]).code == 20)
        return killed
      }
    }
    throw CommandProcess.Missing(description: "the run does not end")
  }

  private func isMigrated(_ path: String) throws -> Bool {
    guard FileManager.default.fileExists(atPath: path) else { return false }
    let reader = try StoreReader(path: path, fileSystem: LocalFileSystem(), locking: .none)
    defer { reader.close() }
    return reader.schema.table("ZAUTHOR") != nil
  }

  private func expectTidy(_ folder: CommandFolder, _ place: String, backup: Data?) throws {
    let name = FilePaths.name(of: place)
    let all = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    // What the run tells of itself stays; its directory does not.
    #expect(all.contains(".\(name).godwit-report") && !all.contains(".\(name).godwit"))
    let names = all.filter { $0.contains(name) && $0 != ".\(name).godwit-report" }.sorted()
    #expect(names.first == name && names.count == (backup == nil ? 1 : 3), "\(names)")
    // The third is the backup's receipt.
    if let backup, names.count > 1 { #expect(try CommandFolder.bytes(folder.file(names[1])) == backup) }
  }
}
