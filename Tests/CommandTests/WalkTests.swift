import Foundation
import Testing

@testable import BatchCommand
@testable import SwiftDataModels

/// The manual's walk, command by command, with an application of our own. GODWIT_BUILDS asks for the one that compiles
/// its policies, which takes minutes; without it the program that has the same policies takes its place.
@Suite("From an application to a migrated store", .enabled(if: SourceParser.isThere, "built without SwiftData"))
struct WalkTests {
  private static let isBuilt = ProcessInfo.processInfo.environment["GODWIT_BUILDS"] != nil
  private let folder: CommandFolder

  init() throws {
    folder = try CommandFolder(readsSwift: true)
    _ = try WalkedApplication(in: folder)
    try FileManager.default.copyItem(
      atPath: ExampleFolder.root + "/Examples/Mappings/Library", toPath: folder.file("Rules"))
    _ = try folder.sample(rows: 300)
  }

  /// The commands below a heading of the manual's page.
  private static func commands(_ heading: String) throws -> [[String]] {
    let page = try String(contentsOfFile: ExampleFolder.root + "/docs/manual/walk.md", encoding: .utf8)
    let part = try #require(page.components(separatedBy: "\n## ").first { $0.hasPrefix(heading + "\n") })
    let block = try #require(part.components(separatedBy: "```sh\n").dropFirst().first)
    let lines = block.components(separatedBy: "\n```")[0].split(separator: "\n")
    return try lines.map { try #require(ShellLine($0.components(separatedBy: " #")[0]).whole) }
  }

  private func run(_ program: String, _ words: [String]) throws -> CommandProcess.Outcome {
    try folder.run(program, words, launcher: ["/usr/bin/env", "-C", folder.path])
  }

  /// Runs the commands below a heading, and gives what each printed by its name. Of the old store not a byte changes.
  private func walk(_ heading: String) throws -> [String: String] {
    let before = try CommandFolder.bytes(folder.file("Library.sqlite"))
    var printed: [String: String] = [:]
    var names: [String] = []
    for command in try Self.commands(heading) {
      var words = Array(command.dropFirst())
      names.append(words[0])
      if words[0] == "policies" {
        guard Self.isBuilt else { continue }
        words += ["--debug", "--build-folder", ExampleFolder.root + "/.build/policies"]
      }
      let ours = Self.isBuilt ? folder.file("godwit-app") : "book-migration"
      let done = try run(command[0] == "./godwit-app" ? ours : command[0], words)
      #expect(done.code == 0, "\(command): \(done)")
      printed[words[0]] = done.output
    }
    #expect(names.filter { $0 != "policies" } == ["app", "init", "plan", "migrate", "trace", "verify"])
    #expect(try CommandFolder.bytes(folder.file("Library.sqlite")) == before)
    return printed
  }

  private static func checkMigrated(_ printed: [String: String]) {
    #expect(printed["plan"]?.contains("version Library 1 to Library 3") == true)
    #expect(printed["migrate"]?.contains("New.sqlite: version Library 3") == true)
    let traced = printed["trace"] ?? ""
    #expect(traced.contains("Book 1 is there, as predicted\n") && !traced.contains("not as predicted"), "\(traced)")
  }

  @Test("With the sources: every command of the page does what it says, in the page's order")
  func sources() throws {
    let printed = try walk("With the sources")
    for line in [
      "App: Xcode project, 2 models, 3 mapping models, 2 policies", "App/Library.xcdatamodeld: 3 versions",
      "App/Mappings/Library1_to_Library2.xcmappingmodel", "App/Mappings/Library2_to_Library3_User.cdm",
      "needs the policy LibraryBookPolicy: App/Policies/BookPolicy.swift:6; this program does not have it",
      "needs the policy MHWUserToUserPolicy: App/Policies/UserPolicy.swift:6; this program does not have it",
      "model Trips: 3 versions",
    ] { #expect(printed["app"]?.contains(line) == true, "\(line): \(printed)") }
    Self.checkMigrated(printed)
  }

  @Test("With the installed application: rules stand in for its policies, and a program that has them needs no rules")
  func installed() throws {
    let printed = try walk("With the installed application")
    #expect(printed["app"]?.hasPrefix("App.ipa: ipa, 1 model, 3 mapping models, 0 policies\n") == true)
    Self.checkMigrated(printed)
    let other = try run("book-migration", ["migrate", "Library.sqlite", "--output", "Other.sqlite", "--quiet"])
    #expect(other.code == 0, "\(other)")
    for sql in [
      "SELECT count(*) FROM ZAUTHOR", "SELECT count(*), count(DISTINCT ZBOOK) FROM ZFILE", "SELECT count(*) FROM ZUSER",
      "SELECT Z_PK, ZTITLE, ZISBN FROM ZBOOK ORDER BY Z_PK",
    ] {
      let rows = try ["New", "Other"].map { try ExampleFolder.rows(folder.file("\($0).sqlite"), sql) }
      #expect(rows[0] == rows[1] && !rows[0].isEmpty, "\(sql)")
    }
  }

  @Test("A program without the policies says where they are and how a program is built that has them")
  func withoutPolicies() throws {
    #expect(try run("godwit", ["init", "Library.sqlite", "--app", "App"]).code == 0)
    let refused = try run("godwit", ["migrate", "Library.sqlite", "--output", "New.sqlite"])
    #expect(refused.code == 20 && refused.error.contains("App/Policies/BookPolicy.swift:6"), "\(refused)")
    for advice in ["godwit policies build ", "godwit mapping convert "] {
      #expect(refused.error.contains(advice))
    }
    #expect(!FileManager.default.fileExists(atPath: folder.file("New.sqlite")))
  }

  @Test("A store of the application's SwiftData schema goes the same way")
  func swiftData() throws {
    let made = try run(
      "godwit", ["sample", "App/Trips", "--version", "1.0.0", "--rows", "50", "--output", "Trips.store"])
    #expect(made.code == 0, "\(made)")
    #expect(try run("godwit", ["init", "Trips.store", "--app", "App"]).code == 0)
    let done = try run("godwit", ["migrate", "Trips.store", "--to", "2.0.0", "--output", "New.store", "--quiet"])
    #expect(done.code == 0, "\(done)")
    #expect(try run("godwit", ["verify", "New.store"]).code == 0)
  }
}
