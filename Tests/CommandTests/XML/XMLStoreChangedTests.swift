import Foundation
import Streams
import Testing

@testable import BatchCommand

/// A run goes on from what it read. Whether the XML store is still that is asked first.
@Suite("XML stores that are written to while a run waits", .serialized)
struct XMLStoreChangedTests {
  private let store: XMLStoreFolder
  private var output: String { store.folder.file("New.sqlite") }
  private var words: [String] {
    ["migrate", store.xml, "--output", output, "--checkpoint-every", "20kB"] + store.arguments
  }

  init() throws { store = try XMLStoreFolder(rows: 6000) }

  private func interrupt() throws {
    let process = try CommandProcess("godwit", words + CommandFolder.slowly, in: store.folder)
    let job = store.folder.file(".New.sqlite.godwit")
    while process.isRunning, CommandFolder.checkpoints(job).count < 2 { usleep(1000) }
    process.send(SIGKILL)
    #expect(try process.wait().code == 128 + SIGKILL)
  }

  enum Change: CaseIterable {
    case written
    /// As `cp -p` does it: another content with an earlier time.
    case older
    /// The same, of the same size.
    case sameSize
  }

  private func make(_ change: Change) throws {
    var bytes = try CommandFolder.bytes(store.xml)
    if change == .older { bytes += Data("\n".utf8) }
    let place = URL(fileURLWithPath: store.xml)
    // In place, or by another file.
    try bytes.write(to: place, options: change == .sameSize ? .atomic : [])
    guard change != .written else { return }
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1_600_000_000)], ofItemAtPath: store.xml)
  }

  @Test(
    "status --check ends as resume and migrate --continue do, for lists as well, whatever the file's new time is; what status names leads to the end",
    arguments: Change.allCases)
  func checked(_ change: Change) throws {
    let folder = store.folder
    try interrupt()
    for path in [output, store.xml] {
      #expect(try folder.run("godwit", ["status", "--check", path]).code == 75)
    }
    try make(change)
    let said = "the XML store was written to since its interrupted migration began"
    for path in [output, store.xml] {
      let checked = try folder.run("godwit", ["status", "--check", path])
      #expect(checked.code == 22 && checked.output.contains("cannot be resumed"), "\(checked)")
      #expect(checked.output.contains("  problem: \(said)\nBegin anew with `godwit migrate "), "\(checked)")
    }
    for words in [["resume", output], words + ["--continue"]] {
      let refused = try folder.run("godwit", words)
      #expect(refused.code == 22 && refused.error.contains("\(store.xml): \(said)"), "\(words): \(refused)")
    }
    try expectListed()
    let status = try folder.run("godwit", ["status", output])
    let commands = ImportFolder.commands(status.output)
    #expect(commands.count == 2 && commands[0].hasSuffix(" --restart"), "\(status)")
    // What it held then is named by what was made of it, of which the check says that it goes on.
    let copy = try #require(commands.last?.split(separator: " ").last)
    #expect(try folder.run("godwit", ["status", "--check", String(copy)]).code == 75)
    let done = try folder.paste(commands[change == .written ? 1 : 0])
    #expect(done.code == 0 && done.output.contains("verified"), "\(done)")
    #expect(try folder.run("godwit", ["status", "--check", output]).code == 0)
    #expect(!FileManager.default.fileExists(atPath: String(copy)))
  }

  private func expectListed() throws {
    let folder = store.folder
    let list = try folder.list(["\(store.xml)\t\(output)"])
    for words in [["status", "--check"], ["report"], ["resume"]] {
      let found = try ListDocument(folder.run("godwit", words + ["--manifest", list, "--json"]))
      #expect(found.code == 22 && found.states == ["unusable"], "\(words): \(found)")
    }
  }

  @Test(
    "A run whose XML store is gone, or put back with its time, goes on: it has what it needs", arguments: [true, false])
  func goesOn(isGone: Bool) throws {
    try interrupt()
    let (copy, manager) = (store.folder.newPath("copy.xml"), FileManager.default)
    let time = try #require(manager.attributesOfItem(atPath: store.xml)[.modificationDate] as? Date)
    try manager.copyItem(atPath: store.xml, toPath: copy)
    try manager.removeItem(atPath: store.xml)
    if !isGone {
      try manager.moveItem(atPath: copy, toPath: store.xml)
      // As an archive keeps it.
      let second = Date(timeIntervalSince1970: time.timeIntervalSince1970.rounded(.down))
      try manager.setAttributes([.modificationDate: second], ofItemAtPath: store.xml)
    }
    #expect(try store.folder.run("godwit", ["status", "--check", output]).code == 75)
    let done = try store.folder.run("godwit", ["resume", output])
    #expect(done.code == 0 && done.output.contains("verified"), "\(done)")
  }

  @Test("The migration is refused with two commands, and each of them ends", arguments: ["--restart", "resume"])
  func changed(word: String) throws {
    try interrupt()
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

  @Test("Of two runs from one XML store the one that waits is still found by it when the other is done")
  func twoOutputs() throws {
    try interrupt()
    _ = try store.godwit(["migrate", store.xml, "--output", store.folder.file("Other.sqlite")] + store.arguments)
    #expect(try store.folder.run("godwit", ["status", "--check", store.xml]).code == 75)
    #expect(try store.folder.run("godwit", ["resume", store.xml]).code == 0)
    #expect(try store.folder.run("godwit", ["status", "--check", output]).code == 0)
  }

  @Test("A run that is cleaned away takes what was made of the XML store with it")
  func cleaned() throws {
    try interrupt()
    let copy = store.folder.file(".New.sqlite.from-xml")
    #expect(FileManager.default.fileExists(atPath: copy))
    _ = try store.godwit(["clean", "--all", output])
    #expect(!FileManager.default.fileExists(atPath: copy))
  }
}
