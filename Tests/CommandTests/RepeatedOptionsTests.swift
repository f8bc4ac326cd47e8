import Foundation
import Testing

@testable import BatchCommand

@Suite("Options that a list gives to each of its stores")
struct RepeatedOptionsTests {
  private static func parse(_ line: [String], _ repeated: inout RepeatedOptions) throws -> MigrateCommand {
    let command = try repeated.parse(line, by: GodwitCommand.self) { try CommandShape.root().inner($0).optionWords }
    return try #require(command as? MigrateCommand)
  }

  @Test("They mean for every store what they mean in its own command, also when they change")
  func options() throws {
    var repeated = RepeatedOptions()
    for (store, options) in [
      ("a.sqlite", ["--models", "M", "--quiet"]), ("b.sqlite", ["--models", "M", "--quiet"]),
      ("c.sqlite", ["--models", "N", "--output", "d.sqlite"]), ("a.sqlite", ["--models", "M", "--quiet"]),
    ] {
      let line = ["migrate", store] + options
      var fresh = RepeatedOptions()
      let (command, wanted) = (try Self.parse(line, &repeated), try Self.parse(line, &fresh))
      #expect(command.store == store && wanted.store == store)
      #expect(command.output == wanted.output && command.models.named.models == wanted.models.named.models)
    }
  }

  @Test("A file of options beside a store is that store's, and not the next one's")
  func files() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("repeated-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for name in ["a", "b"] {
      try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
      try "models: M\nto: Library \(name)\n".write(
        toFile: "\(folder)/\(name)/godwit.yaml", atomically: true, encoding: .utf8)
    }
    var repeated = RepeatedOptions()
    for name in ["a", "b", "a"] {
      let line = ["migrate", "\(folder)/\(name)/Store.sqlite", "--quiet"]
      #expect(try Self.parse(line, &repeated).models.to == "Library \(name)")
    }
  }

  @Test("What is wrong is refused as ever, and remembered for nobody")
  func mistakes() throws {
    var repeated = RepeatedOptions()
    _ = try Self.parse(["migrate", "a.sqlite", "--models", "M"], &repeated)
    for line in [["migrate", "b.sqlite", "--nothing"], ["migrat", "b.sqlite"]] {
      #expect(throws: (any Error).self) { try repeated.parse(line, by: GodwitCommand.self) { _ in [] } }
    }
    #expect(try Self.parse(["migrate", "b.sqlite", "--models", "M"], &repeated).store == "b.sqlite")
  }
}
