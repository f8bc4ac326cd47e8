import Foundation
import GRDB
import Testing

@testable import BatchCommand
@testable import MigrationJobs

@Suite("What is there when a report says that a migration is done") struct PresentStoreTests {
  private func report(_ folder: CommandFolder, _ store: String) throws -> (report: RunReport, code: Int32, text: String)
  {
    let json = try folder.run("godwit", ["report", store, "--json"])
    let text = try folder.run("godwit", ["report", store, "--html", folder.newPath("page.html"), "--text"])
    #expect(json.code == text.code, "\(json) \(text)")
    return (try JSONDecoder().decode(RunReport.self, from: Data(json.output.utf8)), json.code, text.output)
  }

  private func migrated(_ folder: CommandFolder, _ words: [String] = []) throws -> String {
    let store = try folder.sample(rows: 300)
    #expect(try folder.run("book-migration", ["migrate", store] + CommandFolder.models + words).code == 0)
    return store
  }

  private func write(
    _ store: String, _ sql: String = "UPDATE ZUSER SET ZNAME = 'x' WHERE Z_PK = (SELECT max(Z_PK) FROM ZUSER)"
  )
    throws
  {
    let queue = try DatabaseQueue(path: store)
    try queue.write { try $0.execute(sql: sql) }
    try queue.close()
  }

  @Test("The store that the migration left is done; one that an application wrote to is done, and that is said")
  func same() throws {
    let folder = try CommandFolder()
    let store = try migrated(folder)
    let same = try report(folder, store)
    #expect(same.code == 0 && same.report.present == .same && same.report.presentVersion == "Library 3")
    #expect(same.text.hasPrefix("DONE: The store is at Library 3, verified.\n"), "\(same.text)")
    try write(store)
    let written = try report(folder, store)
    #expect(written.code == 0 && written.report.present == .written && written.report.outcome == .done)
    #expect(written.text.contains("verified. The store was written to since."), "\(written.text)")
    let advised = try #require(written.text.firstMatch(of: #/`([a-z-]+ rollback [^`]+)`/#))
    #expect(try folder.paste(String(advised.1)).code == 0, "\(advised.1)")
  }

  @Test(
    "A store that was rolled back, by the command or by hand, is told by its version, and the code is 12 (fault 20)",
    arguments: [true, false])
  func rolledBack(byCommand: Bool) throws {
    let folder = try CommandFolder()
    let store = try migrated(folder)
    let backup = try #require(try report(folder, store).report.backup)
    if byCommand {
      #expect(try folder.run("godwit", ["rollback", store]).code == 0)
    } else {
      try FileManager.default.removeItem(atPath: store)
      try FileManager.default.copyItem(atPath: backup, toPath: store)
      try write(store)
    }
    let found = try report(folder, store)
    #expect(found.code == 12 && found.report.present == .rolledBack && found.report.presentVersion == "Library 1")
    let wanted = " and rolled back since: the old store at version Library 1 is in its place again."
    #expect(found.report.outcome == .rolledBack, "\(found.text)")
    #expect(found.text.hasPrefix("ROLLED BACK: The migration was done at "), "\(found.text)")
    #expect(found.text.contains(wanted) && !found.text.contains("No action is needed"), "\(found.text)")
    let page = folder.newPath("page.html")
    #expect(try folder.run("godwit", ["report", store, "--html", page]).code == 12)
    let html = try String(contentsOfFile: page, encoding: .utf8)
    #expect(html.contains("<header class=\"rolled-back\"><p class=\"badge\">rolled back</p>"), "\(html.prefix(9000))")
    #expect(html.contains("sqlite: rolled back</title>") && html.contains(wanted))
    #expect(found.text.contains("after the migration; bytes are estimated") && !found.text.contains(" and now"))
    // Only the command sets a store aside, and takes the backup's name away.
    #expect(found.report.backup == (byCommand ? nil : backup) && (found.report.setAside != nil) == byCommand)
    #expect(found.text.contains("Nothing is left to do") != byCommand, "\(found.text)")
  }

  @Test("The report names the store that a rollback set aside, and the command that removes it")
  func setAside() throws {
    let folder = try CommandFolder()
    let store = try migrated(folder)
    #expect(try folder.run("godwit", ["rollback", store]).code == 0)
    let found = try report(folder, store)
    let aside = try #require(found.report.setAside)
    #expect(
      aside.hasPrefix("\(store).rolled-back-") && found.text.contains("is set aside as \(aside); `"), "\(found.text)")
    let advised = try #require(found.text.firstMatch(of: #/`([a-z-]+ clean [^`]+)`/#))
    #expect(try folder.paste(String(advised.1)).code == 0, "\(advised.1)")
    #expect(!FileManager.default.fileExists(atPath: aside) && FileManager.default.fileExists(atPath: store))
    #expect(try report(folder, store).text.contains("Nothing is left to do"))
  }

  @Test("A rollback to the same version is no write: the old store is known by its bytes")
  func identity() throws {
    let folder = try CommandFolder()
    let store = try folder.sample(rows: 300)
    #expect(try folder.run("godwit", ["migrate", store, "--identity"]).code == 0)
    #expect(try report(folder, store).report.present == .same)
    #expect(try folder.run("godwit", ["rollback", store]).code == 0)
    #expect(try report(folder, store).report.present == .rolledBack)
  }

  @Test("Another store, a file that is none, and no file at all are told, and the code is 12")
  func others() throws {
    let folder = try CommandFolder()
    let output = folder.file("output")
    let store = try migrated(folder, ["--output", output])
    try write(output, "UPDATE Z_METADATA SET Z_UUID = 'AAAAAAAA-0000-4000-8000-000000000000'")
    let other = try report(folder, output)
    #expect(other.code == 12 && other.report.present == .replaced && other.report.presentVersion == "Library 3")
    try Data("none".utf8).write(to: URL(fileURLWithPath: output))
    let none = try report(folder, output)
    #expect(
      none.code == 12 && none.report.present == .replaced && none.text.contains("the store there now is another one"),
      "\(none.text)")
    try FileManager.default.removeItem(atPath: output)
    let missing = try report(folder, output)
    #expect(
      missing.code == 12 && missing.report.present == .missing
        && missing.text.contains("the store is no longer at its path"))
    #expect(FileManager.default.fileExists(atPath: store))
  }
}
