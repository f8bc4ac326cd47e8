import Foundation
import Testing

@testable import SwiftDataModels

@Suite("The example SchemaGuard", .enabled(if: SourceParser.isThere, "built without SwiftData"))
struct SchemaGuardTests {
  private static let example = ExampleFolder.root + "/Examples/SchemaGuard"

  @Test("Its lock fits its sources, is what lock writes, and check says what its steps need and drop")
  func checked() throws {
    let folder = try CommandFolder(readsSwift: true)
    let found = try folder.run("godwit", ["check", Self.example])
    #expect(found.code == 0 && found.output.contains("3 locked versions, none changed"), "\(found)")
    #expect(found.output.contains("step 1.0.0 to 2.0.0: lightweight, drops Trip.memo\n"))
    #expect(
      found.output.contains("step 2.0.0 to 3.0.0: needs a mapping model") && found.output.contains("TripsPlan.swift:"))
    let again = folder.file("schema.lock")
    #expect(try folder.run("godwit", ["lock", Self.example, "--lock", again]).code == 0)
    #expect(
      try String(contentsOfFile: again, encoding: .utf8)
        == String(contentsOfFile: Self.example + "/schema.lock", encoding: .utf8))
  }

  @Test("The manual shows the beginning of the example's lock")
  func documented() throws {
    let page = try String(contentsOfFile: ExampleFolder.root + "/docs/manual/schema-lock.md", encoding: .utf8)
    let block = try #require(
      page.components(separatedBy: "```yaml\n").dropFirst().first?.components(separatedBy: "```").first)
    let lock = try String(contentsOfFile: Self.example + "/schema.lock", encoding: .utf8)
    #expect(lock.contains("\n" + block) && block.contains("rating: { type: integer64 }"))
  }
}
