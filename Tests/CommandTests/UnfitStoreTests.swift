import Foundation
import GRDB
import Testing

@Suite("Stores whose tables are not those of their model")
struct UnfitStoreTests {
  private let folder: CommandFolder

  init() throws { folder = try CommandFolder() }

  /// What each command says of a store that lacks a column; the tables can be read all the same.
  private func expectUnfit(_ store: String, _ models: [String], lacking column: String, unread: [String]) throws {
    let raw = "godwit export --raw \(store)"
    let verified = try folder.run("godwit", ["verify", store] + models)
    #expect(
      verified.code == 12 && verified.output.contains("\nto read its tables as they are: \(raw)\n"), "\(verified)")
    for entity in unread { #expect(verified.output.contains("  \(entity): not read\n"), "\(verified)") }
    #expect(!verified.output.contains(": 0"), "\(verified)")
    let json = try document(try folder.run("godwit", ["verify", store, "--json"] + models).output)
    let report = try #require(json["report"] as? [String: Any])
    #expect((report["entities"] as? [Any])?.isEmpty == true && report["unreadEntities"] as? [String] == unread)
    let exported = try folder.run("godwit", ["export", store] + models)
    #expect(exported.code == 30 && exported.error.contains("but the store has no column \(column) in table"))
    #expect(exported.error.contains("`\(raw)` reads its tables as they are"), "\(exported)")
    let inspected = try folder.run("godwit", ["inspect", store] + models)
    #expect(inspected.code == 0 && inspected.output.contains("`\(raw)`"), "\(inspected)")
    #expect(try folder.run("godwit", ["export", "--raw", store]).code == 0)
  }

  @Test("verify counts no objects that it did not read, and all name the command that reads the tables as they are")
  func column() throws {
    let store = try folder.sample(rows: 300)
    #expect(try !expectLook(["verify", store, "--json"], in: folder).contains("unreadEntities"))
    let queue = try DatabaseQueue(path: store)
    try queue.write { try $0.execute(sql: "ALTER TABLE ZBOOK RENAME COLUMN ZPAGES TO ZSHEETS") }
    try queue.close()
    let models = ["--models", ExampleFolder.models]
    try expectUnfit(store, models, lacking: "ZPAGES", unread: ["Book", "User"])
  }

  @Test(
    "A real store with the tables of another version is not shown as an empty one",
    .enabled(if: ExampleCorpus.isPresent, "set GODWIT_CORPUS")
  )
  func corpus() throws {
    let name = "apptentive+apptentive-ios"
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(
        atPath: ExampleCorpus.root + "/stores/\(name)/v2CorruptDatabase/ATDataModel.sqlite" + suffix,
        toPath: folder.file("ATDataModel.sqlite") + suffix)
    }
    let models = ["--models", ExampleCorpus.root + "/models/\(name)/ATDataModel.xcdatamodeld"]
    try expectUnfit(
      folder.file("ATDataModel.sqlite"), models, lacking: "ZCUSTOMDATA",
      unread: [
        "ATFileAttachment", "ATMessageDisplayType", "ATMessageSender", "ATFileMessage", "ATTextMessage",
        "ATAutomatedMessage", "ATUpgradeRequestMessage", "ATEvent", "ATSurveyResponse",
      ])
  }
}
