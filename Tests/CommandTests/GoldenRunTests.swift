import Foundation
import Testing

@testable import MigrationJobs

/// Interrupted runs that earlier versions of the program left; `scripts/golden-run` adds one of this version.
@Suite("Runs of every version", .serialized) struct GoldenRunTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Golden").path
  static let archives =
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.hasSuffix(".tar.gz") }.sorted()

  /// Exactly these refusals: the one who reads it knows which program has to end the run.
  private static let reasons = [
    "begun by another version of the program (plan format", "the plan changed since the run began: it was",
    "the checkpoint has format",
  ]

  @Test("There is a run of this version, and FORMAT.md tells its number")
  func isThere() throws {
    #expect(Self.archives.contains { $0.contains("plan-\(JobPlan.currentFormat).") })
    let text = try String(contentsOfFile: Self.folder + "/../../../FORMAT.md", encoding: .utf8)
    #expect(text.contains("| `format` | \(JobPlan.currentFormat). A reader must refuse another one."))
  }

  @Test(
    "It ends with the bytes of an undisturbed run, or is refused with the reason and left as it is", arguments: archives
  )
  func resumes(_ archive: String) throws {
    let folder = try CommandFolder()
    let tar = Process()
    tar.executableURL = URL(fileURLWithPath: "/bin/tar")
    tar.arguments = ["-xzf", Self.folder + "/" + archive, "-C", folder.path]
    try tar.run()
    tar.waitUntilExit()
    #expect(tar.terminationStatus == 0)
    let (store, copy) = (folder.file("Library.sqlite"), folder.file("Copy.sqlite"))
    try FileManager.default.copyItem(atPath: store, toPath: copy)
    let before = try folder.tree().filter {
      !$0.key.isEmpty && !$0.key.hasSuffix("/lease") && !$0.key.hasSuffix("/log")
    }
    let outcome = try folder.run("book-migration", ["resume", store])
    guard outcome.code == 0 else {
      #expect(!JobPlan.readFormats.contains { archive.contains("plan-\($0).") }, "\(outcome)")
      #expect(outcome.code == 22 && Self.reasons.contains { outcome.error.contains($0) }, "\(outcome)")
      // The directory's own time may change, for the lease.
      let after = try folder.tree().filter { before[$0.key] != nil && !$0.key.hasSuffix(".godwit") }
      #expect(after == before.filter { !$0.key.hasSuffix(".godwit") })
      return
    }
    #expect(try folder.run("book-migration", ["migrate", copy] + CommandFolder.models).code == 0)
    #expect(try CommandFolder.bytes(store) == CommandFolder.bytes(copy))
    try says(whetherRowsWereCompared: archive.contains("plan-\(JobPlan.currentFormat)."), outcome, store: store, folder)
  }

  /// Plan format 12 hashes rows in another way than 11: what an earlier version wrote is not compared, and this is said.
  private func says(
    whetherRowsWereCompared isCompared: Bool, _ outcome: CommandProcess.Outcome, store: String, _ folder: CommandFolder
  ) throws {
    let note = "note: rows were not compared with what was written, as an earlier version of the program began the run"
    #expect((outcome.output + outcome.error).contains(note) != isCompared, "\(outcome)")
    let report = try folder.run("book-migration", ["report", store])
    #expect(report.output.contains("compared no rows") != isCompared, "\(report)")
  }
}
