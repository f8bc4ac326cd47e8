import Foundation
import Testing

@Suite("The whole of godwit.yaml is checked")
struct ProjectCheckTests {
  private let folder: CommandFolder
  private let app: ApplicationFolder

  init() throws {
    folder = try CommandFolder()
    app = try ApplicationFolder(in: folder, hasSwiftData: false)
  }

  private var file: String { folder.file("godwit.yaml") }

  private func write(_ text: String) throws { try text.write(toFile: file, atomically: true, encoding: .utf8) }

  private static let models = "models: App/App/Library.xcdatamodeld\nmappings: App/App/Mappings\n"

  private func run(_ name: String, _ arguments: [String]) throws -> CommandProcess.Outcome {
    try folder.run(name, arguments, launcher: ["/usr/bin/env", "-C", folder.path])
  }

  @Test(
    "What a command does not read of a file is checked all the same: what migrate would refuse, plan and inspect refuse",
    arguments: [
      ("on-failure: touch EVIL", "line 3: on-failure: touch EVIL counts only in a file that you name"),
      ("keep-backups: 1", "line 3: keep-backups: 1 counts only in a file that you name"),
      ("workers: many", "line 3: workers: The value 'many' is invalid"),
      ("progress: loud", "line 3: progress: The value 'loud' is invalid"),
    ])
  func whole(line: String, message: String) throws {
    let store = try folder.sample(rows: 20)
    try write(Self.models + line + "\n")
    for words in [["plan", store], ["inspect", store], ["verify", store], ["migrate", store]] {
      let refused = try run("book-migration", words)
      #expect(refused.code == 20 && refused.error.contains("\(file): \(message)"), "\(words): \(refused)")
    }
    // What is named is trusted, and has to be right as well.
    let named = try run("book-migration", ["plan", store, "--config", file])
    #expect(named.code == (message.contains("invalid") ? 20 : 0), "\(named)")
  }

  @Test("Without models a command says that they are missing, with its own usage")
  func usage() throws {
    let store = try folder.sample(rows: 20)
    let refused = try run("godwit", ["plan", store])
    #expect(refused.code == 64 && refused.error.contains("\nUsage: godwit plan "), "\(refused)")
    #expect(refused.error.contains("See 'godwit plan --help'"), "\(refused)")
  }
}
