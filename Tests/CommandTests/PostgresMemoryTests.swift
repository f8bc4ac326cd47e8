#if PostgreSQL
  import Foundation
  import GRDB
  import Testing

  @testable import PostgresLoads
  @Suite("Memory of a load", LoadServer.isThere)
  struct PostgresMemoryTests {
    private static let columns = (0..<15).map { "part\($0)" }

    /// A store with rows of 3 MB, which have fifteen values of the same length.
    private func store(_ folder: CommandFolder) throws -> (store: String, models: String) {
      let models = folder.newPath("Wide.xcdatamodeld")
      let attributes = Self.columns.map { "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"Binary\"/>" }
      let text = "<model documentVersion=\"1.0\"><entity name=\"Wide\">\(attributes.joined())</entity></model>"
      try FileManager.default.createDirectory(atPath: models + "/Wide.xcdatamodel", withIntermediateDirectories: true)
      try text.write(toFile: models + "/Wide.xcdatamodel/contents", atomically: false, encoding: .utf8)
      let store = folder.file("Wide.sqlite")
      let made = try folder.run("godwit", ["sample", models, "--version", "Wide", "--rows", "40", "--output", store])
      #expect(made.code == 0, "\(made)")
      let queue = try DatabaseQueue(path: store)
      let values = Self.columns.map { "Z\($0.uppercased()) = randomblob(200000)" }
      try queue.write { try $0.execute(sql: "UPDATE ZWIDE SET \(values.joined(separator: ", "))") }
      try queue.close()
      return (store, models)
    }

    @Test("I7: rows of many values that are long together are loaded and proved within 64 MiB")
    func wideRows() throws {
      let folder = try CommandFolder()
      let (store, models) = try store(folder)
      try LoadServer.withSchema { session, schema in
        // A process counts from what its parent had; so the program is started by a small one.
        let outcome = try folder.run(
          "godwit",
          ["migrate", store, "--models", models, "--to-postgres", LoadServer.url, "--schema", schema, "--json"],
          launcher: ["/bin/sh", "-c", "\"$@\"; exit $?", "sh"])
        #expect(outcome.code == 0, "\(outcome)")
        struct Summary: Decodable { var peakMemory: Int }
        let peak = try JSONDecoder().decode(Summary.self, from: Data(outcome.output.utf8)).peakMemory
        #expect(peak <= 64 << 20, "\(peak >> 10) KiB")
        let lengths = Self.columns.map { "sum(length(\($0)))" }.joined(separator: " + ")
        #expect(
          try session.rows("SELECT count(*), \(lengths) FROM \(schema).wide") == [["40", "\(40 * 15 * 200_000)"]])
      }
    }
  }
#endif
