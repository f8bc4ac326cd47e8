#if PostgreSQL
  import Foundation
  import Testing

  @testable import PostgresLoads
  @Suite("Destinations in mapping files", .serialized) struct PostgresDestinationTests {
    private static let models = ["--models", ExampleFolder.root + "/Benchmarks/Models/Plain.xcdatamodeld"]
    private static let nowhere = "postgres://app@127.0.0.1:1/library"

    /// A mapping file from Plain 1 to Plain 2 with these lines of a destination.
    private func mapping(_ folder: CommandFolder, _ lines: [String], entities: String = "[Row]") throws -> [String] {
      let path = folder.newPath("Plain.yaml")
      let text =
        ["from: Plain 1", "to: Plain 2", "destination:"] + lines.map { "  \($0)" } + ["entities: \(entities)", ""]
      try text.joined(separator: "\n").write(toFile: path, atomically: false, encoding: .utf8)
      return Self.models + ["--mappings", path]
    }

    private func sample(_ folder: CommandFolder, _ name: String, version: String = "Plain 1") throws -> String {
      let store = folder.file(name)
      let made = try folder.run(
        "godwit", ["sample", Self.models[1], "--version", version, "--rows", "300", "--output", store])
      #expect(made.code == 0, "\(made)")
      return store
    }

    @Test(
      "A result goes where the mapping file says, as the file says, but for what the command says",
      LoadServer.isThere)
    func loads() throws {
      let folder = try CommandFolder()
      try LoadServer.withSchema { session, schema in
        let schemas = [schema, schema + "_2", schema + "_3"]
        defer { for name in schemas.dropFirst() { try? session.execute("DROP SCHEMA IF EXISTS \(name) CASCADE") } }
        let url = LoadServer.url.replacing("godwit:godwit@", with: "godwit@")
        let words = try mapping(
          folder, ["postgres: \(url)", "schema: \(schema)", "inheritance: class", "names: core-data"])
        let password = ["/usr/bin/env", "PGPASSWORD=godwit"]
        for (version, name, others) in [
          ("Plain 1", "ZROW", []), ("Plain 1", "row", ["--schema", schemas[1], "--names", "snake-case"]),
          ("Plain 2", "ZROW", ["--schema", schemas[2]]),
        ] {
          let store = try sample(folder, "\(name)-\(version).sqlite", version: version)
          let before = try Data(contentsOf: URL(fileURLWithPath: store))
          let end = try folder.run("godwit", ["migrate", store] + words + others, launcher: password)
          #expect(end.code == 0, "\(end)")
          let place = others.first { $0.hasPrefix(schema) } ?? schema
          #expect(try session.rows("SELECT count(*) FROM \(place).\"\(name)\"") == [["300"]])
          #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
        }
      }
    }

    @Test("A plan shows it; an output comes before it; many stores, a password and options for nothing are refused")
    func looks() throws {
      let folder = try CommandFolder()
      let words = try mapping(folder, ["postgres: \(Self.nowhere)", "schema: app", "names: core-data"])
      let (old, new) = (try sample(folder, "old.sqlite"), try sample(folder, "new.sqlite", version: "Plain 2"))
      let plan = try folder.run("godwit", ["plan", old, "--no-rehearsal"] + words)
      #expect(
        plan.code == 0 && plan.output.contains("the result will be loaded into \(Self.nowhere), schema app"), "\(plan)")
      #expect(plan.output.contains("CREATE TABLE app.\"ZROW\""), "\(plan)")
      let upToDate = try folder.run("godwit", ["plan", new, "--check"] + words)
      #expect(upToDate.code == 0 && upToDate.output.contains("no step is needed"), "\(upToDate)")
      let elsewhere = try folder.run("godwit", ["plan", new, "--check", "--output", folder.newPath("x")] + words)
      #expect(elsewhere.code == 3, "\(elsewhere)")
      let before = try folder.tree()
      let away = try folder.run("godwit", ["migrate", old] + words)
      #expect(
        away.code == 20 && away.error.contains("cannot be reached") && away.error.contains("Nothing was written"),
        "\(away)")
      let list = folder.newPath("list")
      try "\(old)\n\(new)\n".write(toFile: list, atomically: false, encoding: .utf8)
      for command in [["migrate"], ["fleet", "plan", "--tasks", "2"]] {
        let refused = try folder.run("godwit", command + ["--manifest", list] + words)
        #expect(refused.code == 20 && refused.error.contains("one store at a time"), "\(refused)")
      }
      #expect(try folder.run("godwit", ["migrate", old, "--schema", "app"] + Self.models).code == 64)
      #expect(try folder.run("godwit", ["migrate", old, "--keep-backups", "1"] + words).code == 64)
      #expect(try folder.tree() == before)
      let output = folder.newPath("output.sqlite")
      #expect(try folder.run("godwit", ["migrate", old, "--output", output] + words).code == 0)
      #expect(FileManager.default.fileExists(atPath: output))
    }

    @Test("Two mapping files with two destinations are one clear error")
    func two() throws {
      let folder = try CommandFolder()
      let store = try sample(folder, "old.sqlite")
      let words = try ["[Row]", "[]"].enumerated().flatMap { number, entities in
        try mapping(folder, ["postgres: postgres://app@db/\(number)"], entities: entities).dropFirst(2)
      }
      let refused = try folder.run("godwit", ["migrate", store] + Self.models + words)
      #expect(refused.code == 20 && refused.error.contains("name two destinations for Plain 2"), "\(refused)")
    }
  }
#endif
