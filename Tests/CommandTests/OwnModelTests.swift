import Foundation
import Testing

@Suite("A store's own model has a name that can stand wherever a version's name does")
struct OwnModelTests {
  private let folder: CommandFolder
  private let store: String

  init() throws {
    folder = try CommandFolder()
    store = try folder.sample("Data.sqlite", rows: 40)
  }

  private func run(_ words: [String], code: Int32 = 0) throws -> String {
    let outcome = try folder.run("godwit", words)
    #expect(outcome.code == code, "\(words): \(outcome)")
    return outcome.output + outcome.error
  }

  @Test("plan, migrate, report and diff name it alike")
  func texts() throws {
    let (own, output) = ("Data.sqlite's own model", folder.file("New.sqlite"))
    let plan = try run(["plan", store, "--identity", "--no-rehearsal"])
    #expect(plan.contains("\(store): version \(own)") && plan.contains("step 1: \(own)"), "\(plan)")
    let migrated = try run(["migrate", store, "--identity", "--output", output])
    #expect(migrated.contains("\(output): version \(own), ") && migrated.contains("\(own): 40 objects read"))
    let report = try run(["report", output])
    #expect(report.hasPrefix("DONE: The store is at \(own), verified.\n"), "\(report)")
    #expect(report.contains("  versions     \(own)") && report.contains("  1. \(own)"), "\(report)")
    let models = ExampleFolder.models
    let diff = try run(["diff", store, "\(models):Library 2"])
    #expect(diff.hasPrefix("\(store) (its own model) to Library 2: "), "\(diff)")
    for text in [plan, migrated, report, diff] { #expect(!text.contains("of Data.sqlite"), "\(text)") }
    let same = try run(["mapping", "init", store, "\(models):Library 1"], code: 20)
    #expect(same.contains("\(own) and Library 1 have the same version hashes"), "\(same)")
  }

  @Test("An entity that it does not have is said with that name")
  func errors() throws {
    let wrong = try run(["export", store, "Bok"], code: 20)
    #expect(wrong.contains("Data.sqlite's own model has no entity Bok, did you mean Book?"), "\(wrong)")
  }
}
