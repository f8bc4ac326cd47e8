import Foundation
import GRDB
import Glibc
import Streams
import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import MigrationJobs
@testable import Migrations
@testable import StoreSamples

/// A folder for a fault that was found: a small model, stores of it, values outside of them, and runs that are stopped
/// or killed before a call.
final class FindingFolder {
  let folder: CommandFolder
  let models: String
  private var library: String?

  /// What an entity has besides its attributes.
  static let bin =
    #"<attribute name="bin" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>"#
  static let name = #"<attribute name="name" optional="YES" attributeType="String"/>"#

  /// Versions V1, V2 and V3 of an entity A, each with one attribute more.
  init() throws {
    folder = try CommandFolder()
    models = folder.newPath("Model.xcdatamodeld")
    let first = Self.bin + Self.name
    let second = first + #"<attribute name="extra" optional="YES" attributeType="String"/>"#
    try write([first, second, second + #"<attribute name="third" optional="YES" attributeType="String"/>"#])
  }

  /// Versions V1, V2, … with what the entity A has in each.
  init(_ versions: [String]) throws {
    folder = try CommandFolder()
    models = folder.newPath("Model.xcdatamodeld")
    try write(versions)
  }

  /// Versions V1, V2, … with these entities, and a store of V1 with so many objects.
  static func entities(_ versions: [String], rows: Int) throws -> (FindingFolder, store: String) {
    let folder = try FindingFolder(entities: versions)
    let store = folder.file("b.sqlite")
    try folder.runWell([
      "sample", folder.models, "--version", "V1", "--rows", "\(rows)", "--seed", "5", "--output", store,
    ])
    return (folder, store)
  }

  /// Versions V1, V2, … with these entities.
  init(entities versions: [String]) throws {
    folder = try CommandFolder()
    models = folder.newPath("Model.xcdatamodeld")
    try write(entities: versions)
  }

  private func write(_ versions: [String]) throws {
    try write(
      entities: versions.map { "<entity name=\"A\" representedClassName=\"A\" syncable=\"YES\">\($0)</entity>" })
  }

  private func write(entities versions: [String]) throws {
    let head =
      #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><model type="com.apple.IDECoreDataModeler.DataModel" "#
      + #"documentVersion="1.0" lastSavedToolsVersion="1" systemVersion="1" minimumToolsVersion="Automatic" "#
      + #"sourceLanguage="Swift" userDefinedModelVersionIdentifier="">"#
    for (number, contents) in versions.enumerated() {
      let version = "\(models)/V\(number + 1).xcdatamodel"
      try FileManager.default.createDirectory(atPath: version, withIntermediateDirectories: true)
      try "\(head)\(contents)</model>"
        .write(toFile: version + "/contents", atomically: false, encoding: .utf8)
    }
    let current = ["_XCCurrentVersionName": "V\(versions.count).xcdatamodel"]
    try PropertyListSerialization.data(fromPropertyList: current, format: .xml, options: 0)
      .write(to: URL(fileURLWithPath: models + "/.xccurrentversion"))
  }

  func file(_ name: String) -> String { folder.file(name) }

  func exists(_ path: String) -> Bool { (try? LocalFileSystem().statusOfName(path)) != nil }

  func version(_ name: String) throws -> ManagedObjectModel { try ModelLibrary(paths: [models]).target(named: name) }

  /// A store of V1 with four objects that have names, and no values outside.
  func store(_ name: String) throws -> String {
    let path = try sample(name)
    try execute(path, "UPDATE ZA SET ZNAME = 'name ' || Z_PK, ZBIN = NULL")
    try? FileManager.default.removeItem(atPath: ExternalDataFolder(store: path).path)
    return path
  }

  /// A store of V1 with four objects.
  func sample(_ name: String) throws -> String {
    let path = file(name)
    try StoreSampler(model: try version("V1"), rows: 4, seed: 7)
      .write(to: path, fileSystem: LocalFileSystem(), progress: { _ in })
    return path
  }

  func execute(_ store: String, _ sql: String) throws {
    let queue = try DatabaseQueue(path: store)
    try queue.write { try $0.execute(sql: sql) }
    try queue.close()
  }

  func texts(_ store: String, _ sql: String) throws -> [String] {
    let queue = try DatabaseQueue(path: store)
    defer { try? queue.close() }
    return try queue.read { try String.fetchAll($0, sql: sql) }
  }

  /// Names of the objects, in their order.
  func names(_ store: String) throws -> [String] { try texts(store, "SELECT ZNAME FROM ZA ORDER BY Z_PK") }

  /// Is a store at a version?
  func isStore(_ store: String, at version: String) throws -> Bool {
    let hashes = ManagedObjectModel.versionHashesDigest(try self.version(version).versionHashes)
    return StoreMark(of: store, LocalFileSystem())?.hashes == hashes
  }

  // Values outside.
  static func file(of key: Int) -> String { "0A1B2C3D-0000-4000-8000-00000000000\(key)" }

  /// Where a store's value outside is.
  func outside(_ store: String, _ key: Int) -> String {
    ExternalDataFolder(store: store).files + "/" + Self.file(of: key)
  }

  /// Lets objects 1 and 2 of a store have values outside, as Core Data writes them.
  func keepOutside(_ store: String) throws {
    try FileManager.default.createDirectory(
      atPath: ExternalDataFolder(store: store).files, withIntermediateDirectories: true)
    for key in [1, 2] {
      try Data(repeating: UInt8(key), count: 5000).write(to: URL(fileURLWithPath: outside(store, key)))
      try execute(
        store, "UPDATE ZA SET ZBIN = CAST(x'02' || '\(Self.file(of: key))' || x'00' AS BLOB) WHERE Z_PK = \(key)")
    }
  }

  /// Does a store have all its values outside? `verify` is asked as well.
  func expectWhole(_ store: String, _ keys: [Int] = [1, 2]) throws {
    for key in keys {
      #expect(try CommandFolder.bytes(outside(store, key)) == Data(repeating: UInt8(key), count: 5000), "value \(key)")
    }
    let outcome = try run(["verify", store, "--models", models])
    #expect(outcome.code == 0, "\(outcome)")
  }

  // Runs.
  /// What lets the run of a small store have its plan on the disk from the beginning.
  static let written = ["--checkpoint-every", "64M"]

  func migrate(_ store: String, to version: String = "V2", output: String? = nil) -> [String] {
    ["migrate", store, "--models", models, "--to", version] + (output.map { ["--output", $0] } ?? [])
  }

  func run(_ words: [String], launcher: [String] = []) throws -> CommandProcess.Outcome {
    try folder.run("godwit", words, launcher: launcher)
  }

  /// Runs a command that has to end well.
  func runWell(_ words: [String]) throws {
    let outcome = try run(words)
    try #require(outcome.code == 0, "\(words): \(outcome)")
  }

  /// A command that stands still before a call: its name or *, and the end of its path.
  func stopped(_ words: [String], before call: String, number: Int = 1) throws -> CommandProcess {
    let process = try CommandProcess("godwit", words, in: folder, launcher: try stopping(call, number, "STOP"))
    try process.waitUntilStopped()
    return process
  }

  /// A command that was killed before a call.
  func kill(_ words: [String], before call: String, number: Int = 1) throws {
    let outcome = try run(words, launcher: try stopping(call, number))
    try #require(outcome.code == 128 + SIGKILL, "not killed before \(call): \(outcome)")
  }

  /// What lets a command stop or die before a call.
  func stopping(_ call: String, _ number: Int = 1, _ how: String = "KILL") throws -> [String] {
    if library == nil { library = try StopLibrary.build(at: folder.newPath("stop-at.so")) }
    return ["/usr/bin/env", "LD_PRELOAD=\(library!)", "STOP_ONLY=\(call)", "STOP_AT=\(number)", "STOP_WITH=\(how)"]
  }

  /// Runs a command and what its messages advise, until one ends with 0; three commands at most.
  func follow(_ words: [String]) throws {
    var (next, said): ([String]?, [CommandProcess.Outcome]) = (words, [])
    while let words = next, said.count < 3 {
      said.append(try run(words))
      if said.last?.code == 0 { return }
      next = said.last.flatMap { Self.advice($0) }
    }
    Issue.record("no command leads on: \(said)")
  }

  /// The command that a message names.
  static func advice(_ outcome: CommandProcess.Outcome) -> [String]? {
    let found = outcome.error.firstMatch(of: #/`godwit ([^`]+)`/#)
    return found.map { $0.1.split(separator: " ").map(String.init) }
  }

  /// Working folders that are left.
  func jobs() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".godwit") }
  }
}

/// scripts/stop-at.c, which stops a program before a call that changes the disk.
enum StopLibrary {
  private static let compiler: String? = {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    let paths = folders.flatMap { folder in ["cc", "clang", "gcc"].map { "\(folder)/\($0)" } }
    return paths.first { FileManager.default.isExecutableFile(atPath: $0) }
  }()

  static var isPossible: Bool { compiler != nil }
  static let needed: Comment = "stopping a process before a call needs a C compiler"

  static func build(at path: String) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(compiler))
    process.arguments = ["-shared", "-fPIC", "-O1", "-o", path, ExampleFolder.root + "/scripts/stop-at.c", "-ldl"]
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "scripts/stop-at.c cannot be compiled")
    return path
  }
}
