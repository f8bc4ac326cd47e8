import Foundation
import Streams
import Testing

@testable import BatchCommand

/// A run goes on from what it read; the XML store itself is not looked at again.
@Suite("XML stores that are written to while a run waits")
struct XMLStoreChangedTests {
  private let store: XMLStoreFolder
  private var output: String { store.folder.file("New.sqlite") }
  private var words: [String] {
    ["migrate", store.xml, "--output", output, "--checkpoint-every", "20kB"] + store.arguments
  }

  init() throws { store = try XMLStoreFolder(rows: 6000) }

  @Test("The migration is refused with two commands, and each of them ends", arguments: ["--restart", "resume"])
  func changed(word: String) throws {
    let process = try CommandProcess("godwit", words + CommandFolder.slowly, in: store.folder)
    let job = store.folder.file(".New.sqlite.godwit")
    while process.isRunning, CommandFolder.checkpoints(job).count < 2 { usleep(1000) }
    process.send(SIGKILL)
    _ = try process.wait()
    try CommandFolder.bytes(store.xml).write(to: URL(fileURLWithPath: store.xml))
    for more in [[], ["--continue"]] {
      let refused = try store.folder.run("godwit", words + more)
      #expect(refused.code == 22 && refused.error.contains("was written to since its interrupted"), "\(refused)")
      guard !more.isEmpty else { continue }
      let commands = refused.error.split(separator: "`").map(String.init).filter { $0.hasPrefix("godwit ") }
      let advised = try #require(commands.first { $0.contains(word) }, "\(refused)")
      let outcome = try store.folder.paste(advised)
      #expect(outcome.code == 0 && outcome.output.contains("verified"), "\(advised): \(outcome)")
    }
  }

  @Test("A run that failed is begun anew from the XML store, not from what was made of it")
  func failed() throws {
    let file = store.folder.file("names.yaml")
    func write(_ name: String) throws {
      let tags = "  - { from: Tag, attributes: { name: \(name) } }\n"
      try store.write("from: Shapes 1\nto: Shapes 2\nothers: true\nentities:\n\(tags)", to: file)
    }
    try write("{ cast: { cast: $source.name, to: integer }, to: text }")
    let words = ["migrate", store.xml, "--output", output, "--mappings", file] + store.arguments
    let failed = try store.folder.run("godwit", words)
    #expect(failed.code != 0 && failed.error.contains("begin anew with `godwit migrate \(store.xml)"), "\(failed)")
    let again = try store.folder.run("godwit", words)
    try write("$source.name")
    for outcome in [failed, again] {
      let commands = outcome.error.split(separator: "`").map(String.init)
      let advised = try #require(commands.first { $0.hasSuffix("--restart") }, "\(outcome)")
      try? FileManager.default.removeItem(atPath: output)
      let anew = try store.folder.paste(advised)
      #expect(anew.code == 0 && anew.output.contains("verified"), "\(advised): \(anew)")
    }
  }
}
