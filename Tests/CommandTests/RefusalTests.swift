import Foundation
import GRDB
import Testing

/// Expects that a command fails with a code and one error that has all these words, and that nothing in the folder
/// changed.
func expectRefusal(
  _ code: Int32, _ words: [String], _ arguments: [String], in folder: CommandFolder, program: String = "book-migration",
  launcher: [String] = [], at location: SourceLocation = #_sourceLocation
) throws {
  let before = try folder.tree()
  let outcome = try folder.run(program, arguments, launcher: launcher)
  #expect(outcome.code == code, "\(outcome)", sourceLocation: location)
  #expect(outcome.output.isEmpty, sourceLocation: location)
  let errors = outcome.error.split(separator: "\n").filter { $0.hasPrefix("\(program): ") }
  #expect(errors.count == 1, "\(outcome.error)", sourceLocation: location)
  for word in words {
    #expect(
      outcome.error.lowercased().contains(word.lowercased()), "\(word): \(outcome.error)", sourceLocation: location)
  }
  #expect(try folder.tree() == before, sourceLocation: location)
}

@Suite("What is refused before anything is written")
struct RefusalTests {
  private let folder: CommandFolder
  private static let nothing = "nothing was written"

  init() throws { folder = try CommandFolder() }

  @Test("A name that no version has is refused with what may have been meant, and a real one is taken")
  func unknownNames() throws {
    let store = try folder.sample(rows: 20)
    for (words, said) in [
      (["--drop", "Bok"], "no version of the model has an entity Bok, did you mean Book?"),
      (["--drop", "Book.titel"], "no version of Book has a property titel, did you mean title?"),
      (
        ["--explain", "Usr/1", "--log-file", folder.newPath("log")],
        "no version of the model has an entity Usr, did you mean User?"
      ),
    ] {
      try expectRefusal(
        20, [words[0], said, Self.nothing],
        ["migrate", store, "--progress", "none"] + words + CommandFolder.models, in: folder)
    }
    // An entity of a later version, as lists of stores have stores of several versions.
    let words = ["plan", store, "--drop", "File", "Book.title"] + CommandFolder.models
    let planned = try folder.run("book-migration", words)
    #expect(planned.code == 0, "\(planned)")
  }

  @Test("A file that is no SQLite database", arguments: ["migrate", "plan", "inspect"])
  func noDatabase(command: String) throws {
    for (name, size) in [("text.sqlite", 5000), ("empty.sqlite", 0)] {
      let path = folder.file(name)
      try Data(repeating: 0x41, count: size).write(to: URL(fileURLWithPath: path))
      try expectRefusal(
        30,
        [path, size == 0 ? "the file is empty" : "no SQLite database", "path"]
          + (command == "inspect" ? [] : [Self.nothing]),
        [command, path] + (command == "inspect" ? [] : CommandFolder.models), in: folder)
    }
  }

  @Test("An SQLite database that is no Core Data store", arguments: ["migrate", "plan", "inspect"])
  func noStore(command: String) throws {
    let path = folder.file("plain.sqlite")
    let queue = try DatabaseQueue(path: path)
    try queue.write { try $0.execute(sql: "CREATE TABLE a (b); INSERT INTO a VALUES (1)") }
    try queue.close()
    try expectRefusal(
      30, [path, "not a Core Data store", "Z_METADATA"] + (command == "inspect" ? [] : [Self.nothing]),
      [command, path] + (command == "inspect" ? [] : CommandFolder.models), in: folder)
  }

  @Test("A store that was cut off, and one that is missing")
  func damaged() throws {
    let whole = try folder.sample(rows: 500)
    let path = folder.file("cut.sqlite")
    try CommandFolder.bytes(whole).prefix(9000).write(to: URL(fileURLWithPath: path))
    try expectRefusal(
      30, [path, "truncated", "backup", Self.nothing], ["migrate", path] + CommandFolder.models, in: folder)
    let none = folder.file("none.sqlite")
    try expectRefusal(64, [none, "no such file", Self.nothing], ["migrate", none] + CommandFolder.models, in: folder)
  }

  @Test("A store that no model fits, and a version that nothing leads to")
  func noWay() throws {
    let store = try folder.sample(rows: 100)
    try folder.forgetModel(of: store)
    let second = ExampleFolder.models + "/Library 2.xcdatamodel"
    try expectRefusal(
      20, [store, "no version of the model fits", "Library 2", "supply the version", Self.nothing],
      ["migrate", store, "--models", second], in: folder)
    try expectRefusal(
      20, ["no version is named Library 9", "Library 3", Self.nothing],
      ["migrate", store, "--to", "Library 9"] + CommandFolder.models, in: folder)
    // Two models that do not belong together: neither a mapping model nor inference leads from one to the other.
    let other = folder.file("Other.xcdatamodel")
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
    let model =
      #"<model type="com.apple.IDECoreDataModeler.DataModel"><entity name="Lamp"><attribute name="watts""#
      + #" optional="YES" attributeType="Integer 16"/></entity></model>"#
    try model.write(toFile: other + "/contents", atomically: false, encoding: .utf8)
    let first = ExampleFolder.models + "/Library 1.xcdatamodel"
    try expectRefusal(
      20, ["no path leads from Library 1 to Other", "supply a mapping model", Self.nothing],
      ["migrate", store, "--models", first, other, "--to", "Other"], in: folder)
  }

  @Test("A store mirrored with CloudKit, unless the plan allows it as the migration may")
  func cloudKit() throws {
    let store = try folder.sample(rows: 100)
    let queue = try DatabaseQueue(path: store)
    try queue.write {
      try $0.execute(sql: "CREATE TABLE ANSCKRECORDMETADATA (Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER)")
    }
    try queue.close()
    try expectRefusal(
      20, [store, "CloudKit", "--allow-cloudkit", Self.nothing], ["plan", store] + CommandFolder.models, in: folder)
    let allowed = try folder.run("book-migration", ["plan", store, "--allow-cloudkit"] + CommandFolder.models)
    #expect(allowed.code == 0 && allowed.output.contains("ANSCKRECORDMETADATA"), "\(allowed)")
  }

  @Test("A mapping model whose policy the program does not have", arguments: ["migrate", "plan"])
  func policy(command: String) throws {
    let store = try folder.sample(rows: 100)
    try expectRefusal(
      20, ["LibraryBookPolicy", "BookToBook", "run the program that registers", Self.nothing],
      [command, store] + CommandFolder.models, in: folder, program: "godwit")
  }

  @Test("A destination in a missing directory, below a file, and one that exists")
  func destination() throws {
    let store = try folder.sample(rows: 100)
    let taken = folder.file("taken.sqlite")
    try Data("mine".utf8).write(to: URL(fileURLWithPath: taken))
    for (output, words) in [
      (folder.file("missing/new.sqlite"), ["leads nowhere", "directory of a destination must exist"]),
      (taken + "/new.sqlite", ["leads nowhere", "not a directory"]), (taken, ["exists already", "another path"]),
      (folder.path, ["this is a folder"]),
    ] {
      try expectRefusal(
        output == folder.path ? 64 : 20, [output, Self.nothing] + words,
        ["migrate", store, "--output", output] + CommandFolder.models, in: folder)
    }
  }

  // Root may write everywhere, so root starts the program as nobody; without root a folder without write permission
  // will do.
  @Test(
    "A directory that the user may not write to",
    .enabled(if: geteuid() != 0 || access("/usr/bin/setpriv", X_OK) == 0, "root needs setpriv for this"))
  func readOnly() throws {
    let store = try folder.sample(rows: 100)
    let manager = FileManager.default
    try manager.setAttributes([.posixPermissions: 0o644], ofItemAtPath: store)
    try manager.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.path)
    defer { try? manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path) }
    let nobody = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    try expectRefusal(
      20, [folder.path, "cannot be written", "--output", Self.nothing], ["migrate", store] + CommandFolder.models,
      in: folder,
      launcher: geteuid() == 0 ? nobody : [])
  }

  // /proc has no space at all and is there everywhere; a small disk of one's own needs root.
  @Test("A disk without enough space")
  func noSpace() throws {
    let store = try folder.sample(rows: 2000)
    try expectRefusal(
      20, ["/proc", "MiB on the disk", "0 MiB are free", "free space", Self.nothing],
      ["migrate", store, "--output", "/proc/new.sqlite"] + CommandFolder.models, in: folder)
  }

  @Test("A disk that is small: plan and migrate say the same", .enabled(if: SmallDisk.isPossible, "it needs root"))
  func smallDisk() throws {
    let store = try folder.sample(rows: 2000)
    let disk = try SmallDisk(at: folder.file("disk"))
    defer { disk.unmount() }
    let arguments = [store, "--output", disk.path + "/new.sqlite"] + CommandFolder.models
    try expectRefusal(
      20, [disk.path, "MiB on the disk", "1 MiB are free", "free space", Self.nothing], ["migrate"] + arguments,
      in: folder)
    let told = try ["migrate", "plan"].map { try folder.run("book-migration", [$0] + arguments) }
    let needs = told.map { $0.error.firstMatch(of: #/needs \d+ MiB/#)?.0 }
    #expect(told.map(\.code) == [20, 20] && needs[0] == needs[1] && needs[0] != nil, "\(told)")
  }

  @Test(
    "Wrong arguments",
    arguments: [
      ["migrate"], ["frob"], ["migrate", "a", "--models", "b", "--checkpoint-every", "soon"], ["migrate", "a"],
    ])
  func usage(arguments: [String]) throws {
    let outcome = try folder.run("book-migration", arguments)
    #expect(outcome.code == 64 && outcome.output.isEmpty)
    #expect(outcome.error.contains("Error: ") && outcome.error.contains("Usage: "))
    #expect(try folder.tree().count == 1)
  }

  @Test("A resume where there is nothing to resume")
  func nothingToResume() throws {
    let store = try folder.sample(rows: 100)
    try expectRefusal(
      20, [store, "no interrupted migration", "book-migration migrate", Self.nothing], ["resume", store], in: folder)
  }
}

/// A small disk in memory.
struct SmallDisk {
  static let isPossible: Bool = {
    guard geteuid() == 0 else { return false }
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("disk-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    guard let disk = try? SmallDisk(at: path) else { return false }
    disk.unmount()
    return true
  }()

  let path: String

  init(at path: String, megabytes: Int = 1) throws {
    self.path = path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    guard mount("none", path, "tmpfs", 0, "size=\(megabytes)m") == 0 else {
      throw CommandProcess.Missing(description: "mount: \(String(cString: strerror(errno)))")
    }
  }

  func unmount() { umount(path) }
}
