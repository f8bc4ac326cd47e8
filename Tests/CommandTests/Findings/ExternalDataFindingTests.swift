import Foundation
import Glibc
import Testing

@testable import CoreDataStore

@Suite("Faults that were found: values outside the store", .enabled(if: StopLibrary.isPossible, StopLibrary.needed))
struct ExternalDataFindingTests {
  private let folder: FindingFolder

  init() throws { folder = try FindingFolder() }

  /// A moment in the middle of a run.
  private static let middle = "rename checkpoint-0000000002.lz4"

  @Test(
    "Finding 1: giving up a run to another output leaves the values of a store of the same stem alone, whenever that came"
  )
  func givenUp() throws {
    let source = try folder.store("Old.sqlite")
    try folder.kill(
      folder.migrate(source, output: folder.file("Library.db")) + FindingFolder.written, before: Self.middle)
    let library = try folder.store("Library.sqlite")
    try folder.keepOutside(library)
    try folder.runWell(["clean", "--all", folder.folder.path])
    #expect(try folder.jobs().isEmpty)
    try folder.expectWhole(library)
  }

  @Test("Finding 1: an output whose folder another store has is refused before anything is written")
  func refused() throws {
    let source = try folder.store("Old.sqlite")
    let library = try folder.store("Library.sqlite")
    try folder.keepOutside(library)
    let before = try folder.folder.tree()
    let outcome = try folder.run(folder.migrate(source, output: folder.file("Library.db")))
    #expect(outcome.code == 20 && outcome.error.contains("nothing was written"), "\(outcome)")
    #expect(try folder.folder.tree() == before)
  }

  @Test("Finding 1: source and output of one stem are refused; the source's first values stay where they are")
  func oneStem() throws {
    let source = try folder.store("s.sqlite")
    let words = folder.migrate(source, output: folder.file("s.db"))
    let outcome = try folder.run(words, launcher: folder.stopping(Self.middle))
    #expect(outcome.code == 20 && outcome.error.contains("nothing was written"), "\(outcome)")
    try folder.keepOutside(source)
    try folder.runWell(["clean", "--all", folder.folder.path])
    try folder.expectWhole(source)
  }

  @Test("Finding 1: a run whose output's name was taken meanwhile leaves the values of the store that came with it")
  func taken() throws {
    let source = try folder.store("Old.sqlite")
    let output = folder.file("Library.db")
    let process = try folder.stopped(
      folder.migrate(source, output: output) + FindingFolder.written, before: Self.middle)
    let library = try folder.store("Library.sqlite")
    try folder.keepOutside(library)
    try Data("taken".utf8).write(to: URL(fileURLWithPath: output))
    process.send(SIGCONT)
    let outcome = try process.wait()
    #expect(outcome.code == 20, "\(outcome)")
    #expect(try CommandFolder.bytes(output) == Data("taken".utf8))
    try folder.expectWhole(library)
  }

  @Test("Finding 11: a file outside that is a symbolic link is in the output's folder as well")
  func link() throws {
    let source = try folder.store("s.sqlite")
    try folder.keepOutside(source)
    let big = folder.file("big")
    for path in [big, folder.file("new")] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    let moved = big + "/" + FindingFolder.file(of: 1)
    try FileManager.default.moveItem(atPath: folder.outside(source, 1), toPath: moved)
    try FileManager.default.createSymbolicLink(
      atPath: folder.outside(source, 1), withDestinationPath: "../../big/" + FindingFolder.file(of: 1))
    let output = folder.file("new/o.sqlite")
    let outcome = try folder.run(folder.migrate(source, output: output))
    #expect(outcome.code == 0 && outcome.output.contains("2 of them shared"), "\(outcome)")
    try folder.expectWhole(output)
    try folder.expectWhole(source)
  }

  @Test("Finding 12: a rollback ends well where the store's folder is a symbolic link, which stays")
  func linkedFolder() throws {
    let store = try folder.store("s.sqlite")
    try folder.keepOutside(store)
    let place = ExternalDataFolder(store: store).path
    try FileManager.default.createDirectory(atPath: folder.file("big"), withIntermediateDirectories: true)
    try FileManager.default.moveItem(atPath: place, toPath: folder.file("big/s"))
    try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: "big/s")
    try folder.runWell(folder.migrate(store))
    // The application removes a value, with its file.
    try folder.execute(store, "UPDATE ZA SET ZBIN = NULL WHERE Z_PK = 1")
    try FileManager.default.removeItem(atPath: folder.outside(store, 1))
    let outcome = try folder.run(["rollback", "--force", store])
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try folder.jobs().isEmpty && folder.isStore(store, at: "V1"))
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: place) == "big/s")
    try folder.expectWhole(store)
  }

  @Test("Finding 13: the backup of a store without an extension keeps the values that the application removes later")
  func noExtension() throws {
    let store = try folder.store("persistentStore")
    try folder.keepOutside(store)
    try folder.runWell(folder.migrate(store))
    try folder.execute(store, "UPDATE ZA SET ZBIN = NULL WHERE Z_PK = 1")
    try FileManager.default.removeItem(atPath: folder.outside(store, 1))
    try folder.runWell(["rollback", "--force", store])
    #expect(try folder.isStore(store, at: "V1"))
    try folder.expectWhole(store)
  }
}
