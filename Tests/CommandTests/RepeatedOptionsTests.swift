import Testing

@testable import BatchCommand

@Suite("Options that a list gives to each of its stores")
struct RepeatedOptionsTests {
  private static func parse(_ line: [String], _ repeated: inout RepeatedOptions) throws -> MigrateCommand {
    try #require(try repeated.parse(line, by: GodwitCommand.self) as? MigrateCommand)
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
      #expect(command.output == wanted.output && command.models.models == wanted.models.models)
    }
  }

  @Test("What is wrong is refused as ever, and remembered for nobody")
  func mistakes() throws {
    var repeated = RepeatedOptions()
    _ = try Self.parse(["migrate", "a.sqlite", "--models", "M"], &repeated)
    for line in [["migrate", "b.sqlite", "--nothing"], ["migrat", "b.sqlite"]] {
      #expect(throws: (any Error).self) { try repeated.parse(line, by: GodwitCommand.self) }
    }
    #expect(try Self.parse(["migrate", "b.sqlite", "--models", "M"], &repeated).store == "b.sqlite")
  }
}
