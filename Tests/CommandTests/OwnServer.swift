#if PostgreSQL
  import Foundation

  /// A server for one test alone, which may crash.
  final class OwnServer {
    let url: String
    private let folder: CommandFolder
    private let path: String
    /// Below those that the system gives to connections.
    private let port = Int.random(in: 20_000..<32_000)
    private static let script = URL(fileURLWithPath: ExampleFolder.models).deletingLastPathComponent()
      .deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("scripts/postgres-up").path

    init(_ folder: CommandFolder) throws {
      path = FileManager.default.temporaryDirectory.appendingPathComponent("postgres-\(UUID().uuidString)").path
      self.folder = folder
      url = try Self.run(folder, ["start", path], port)
    }

    deinit { _ = try? Self.run(folder, ["stop", path], port) }

    func crash() throws { _ = try Self.run(folder, ["kill", path], port) }

    private static func run(_ folder: CommandFolder, _ words: [String], _ port: Int) throws -> String {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: script)
      process.arguments = words
      process.environment = ProcessInfo.processInfo.environment.merging(["GODWIT_POSTGRES_PORT": "\(port)"]) { $1 }
      let output = folder.newPath("server")
      _ = FileManager.default.createFile(atPath: output, contents: nil)
      // A file and no pipe: the server keeps what it is given.
      process.standardOutput = FileHandle(forWritingAtPath: output)
      try process.run()
      process.waitUntilExit()
      guard process.terminationStatus == 0 else {
        throw CommandProcess.Missing(description: "postgres-up \(words) failed")
      }
      return try String(contentsOfFile: output, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
    }
  }
#endif
