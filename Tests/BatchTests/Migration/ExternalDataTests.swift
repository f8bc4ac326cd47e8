import Foundation
import GRDB
import Streams
import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport
@testable import StoreVerification

/// Values that lie outside the store (B.4).
@Suite struct ExternalDataTests {
  static let model: ManagedObjectModel = {
    var image = AttributeDescription(name: "image", type: .binaryData)
    image.allowsExternalBinaryDataStorage = true
    var photo = EntityDescription(name: "Photo")
    photo.attributes = [AttributeDescription(name: "title", type: .string), image]
    return ManagedObjectModel(name: "V1", entities: [photo])
  }()
  static let later: ManagedObjectModel = {
    var photo = model.entities[0]
    photo.attributes.append(AttributeDescription(name: "rating", type: .integer16))
    return ManagedObjectModel(name: "V2", entities: [photo])
  }()

  private let folder: MigrationFolder
  private let store: String
  private let names = (0..<4).map { "0000000\($0)-0000-4000-8000-000000000000" }

  /// Photos 1 and 2 have files, 3 lacks its file, 4 holds its bytes inline, 5 has none; one file belongs to nobody.
  init() throws {
    folder = try MigrationFolder([Self.model, Self.later])
    store = try folder.sample("V1", rows: 5, seed: 1)
    let files = ExternalDataFolder(store: store).files
    try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: true)
    for index in [0, 1, 3] {
      try Data([UInt8(index), 9, 9]).write(to: URL(fileURLWithPath: "\(files)/\(names[index])"))
    }
    let names = names
    try CarriedStore.write(store) { db in
      for (key, name) in [(1, names[0]), (2, names[1]), (3, names[2])] {
        let value = Data([2]) + Data(name.utf8) + Data([0])
        try db.execute(sql: "UPDATE ZPHOTO SET ZIMAGE = ? WHERE Z_PK = ?", arguments: [value, key])
      }
      try db.execute(
        sql: "UPDATE ZPHOTO SET ZIMAGE = x'01AABB' WHERE Z_PK = 4; UPDATE ZPHOTO SET ZIMAGE = NULL WHERE Z_PK = 5")
    }
  }

  @Test("The folder's name is the store's without extension")
  func folderName() {
    #expect(ExternalDataFolder(store: "/a/Lib.sqlite").files == "/a/.Lib_SUPPORT/_EXTERNAL_DATA")
    #expect(ExternalDataFolder(store: "Lib.tar.gz").path == "./.Lib.tar_SUPPORT")
    #expect(ExternalDataFolder(store: "/a/.hidden").path == "/a/..hidden_SUPPORT")
  }

  @Test("Dangling and orphan files are counted and named, inline values are told apart")
  func survey() throws {
    let reader = try StoreReader(path: store, fileSystem: LocalFileSystem(), locking: .none)
    defer { reader.close() }
    let binding = try StoreBinding(
      layout: StoreLayout(model: Self.model), schema: reader.schema, modelName: "V1", path: store)
    let survey = try #require(try ExternalDataSurvey(reader, binding, fileSystem: LocalFileSystem()))
    #expect(survey.references == 3)
    #expect(survey.inline == 1)
    #expect(survey.missingExamples == [.init(entity: "Photo", key: 3, attribute: "image", file: names[2])])
    #expect(survey.orphanExamples == [names[3]])
    #expect((survey.missing, survey.orphans) == (1, 1))
  }

  @Test("A value beyond what is read of a row is in its row; rows are counted without reading their values")
  func longValues() throws {
    try CarriedStore.write(store) { try $0.execute(sql: "UPDATE ZPHOTO SET ZIMAGE = zeroblob(3000000) WHERE Z_PK = 4") }
    let reader = try StoreReader(path: store, fileSystem: LocalFileSystem(), locking: .none)
    defer { reader.close() }
    let binding = try StoreBinding(
      layout: StoreLayout(model: Self.model), schema: reader.schema, modelName: "V1", path: store)
    let survey = try #require(try ExternalDataSurvey(reader, binding, fileSystem: LocalFileSystem()))
    #expect((survey.references, survey.inline, survey.unknown) == (3, 1, 0))
    #expect(try reader.rowCounts(table: #require(reader.schema.table("ZPHOTO"))) == [1: 5])
  }

  @Test("A migration elsewhere takes the folder along under the new name; source and destination share the files")
  func output() throws {
    let output = folder.path + "/elsewhere/New.store"
    try FileManager.default.createDirectory(atPath: folder.path + "/elsewhere", withIntermediateDirectories: true)
    let before = try MigrationFolder.tree(FilePaths.directory(of: store))
    let report = try folder.migrate(folder.request(store, output: output))
    #expect(try MigrationFolder.tree(FilePaths.directory(of: store)) == before)
    let (old, new) = (ExternalDataFolder(store: store).files, folder.path + "/elsewhere/.New_SUPPORT/_EXTERNAL_DATA")
    for index in [0, 1, 3] {
      let inodes = try [old, new].map { try LocalFileSystem().status("\($0)/\(names[index])")?.inode }
      #expect(inodes[0] == inodes[1])
    }
    let notes = report.notes.joined(separator: "\n")
    #expect(notes.contains(names[2]) && notes.contains(names[3]))
    #expect(
      try MigrationFolder.rows(store, "SELECT ZIMAGE FROM ZPHOTO")
        == MigrationFolder.rows(output, "SELECT ZIMAGE FROM ZPHOTO"))
  }

  @Test(
    "Trap 14: a file that is lost or torn on the way is found before the cut-over, with entity, key and attribute",
    arguments: [VerificationMode.fast, .full, .sqlite])
  func proof(mode: VerificationMode) throws {
    for (number, damage) in [FileDamage.lost, .torn, .changed].enumerated() {
      let output = try folder.place("\(mode)-\(number)")
      var request = folder.request(store, output: output)
      request.verification = mode
      let disk = WithoutLinks(damage: (names[1], damage))
      let error = #expect(throws: BatchError.self) {
        try folder.job(disk).migrate(request, monitor: RunMonitor(interval: request.interval))
      }
      let what = damage == .lost ? "the file of a value outside the store is missing" : "is not the source's"
      #expect(
        error?.code == .mismatch && error?.entity == "Photo" && error?.key == 2,
        "\(damage): \(String(describing: error))")
      #expect(error?.message.contains("Photo 2, image: ") == true && error?.message.contains(what) == true)
      #expect(
        try LocalFileSystem().status(output) == nil
          && LocalFileSystem().status(ExternalDataFolder(store: output).path) == nil)
      let report = try folder.job().resume(output) { RunMonitor(interval: $0) }
      #expect(report.externalData == ExternalDataReport(references: 3, shared: 2))
    }
  }

  @Test(
    "Trap 14: what the source lacks already is told, and no fault of the migration; files of a name with slashes are not looked for"
  )
  func lostBefore() throws {
    let hostile = "../../../../../../../../../../../etc/passwd"
    try CarriedStore.write(store) { db in
      try db.execute(
        sql: "UPDATE ZPHOTO SET ZIMAGE = ? WHERE Z_PK = 2",
        arguments: [Data([2]) + Data(String(hostile.suffix(36)).utf8) + Data([0])])
    }
    let report = try folder.migrate(folder.request(store))
    #expect(report.isVerified && report.externalData == ExternalDataReport(references: 3, shared: 1))
    let alone = try StoreVerifier(path: store, model: Self.later).verify(mode: .fast)
    #expect(
      alone.violations.map(\.description) == [
        "Photo 2, image: the file of a value outside the store is missing, 2 times"
      ])
  }

  @Test(
    "Where links are impossible the files are copied, and a folder that is in the way is refused before anything is written"
  )
  func copies() throws {
    let output = try folder.place("copied")
    let job = folder.job(WithoutLinks())
    let request = folder.request(store, output: output)
    let report = try job.migrate(request, monitor: RunMonitor(interval: request.interval))
    #expect(report.externalData == ExternalDataReport(references: 3, compared: 2))
    let (old, new) = (ExternalDataFolder(store: store).files, ExternalDataFolder(store: output).files)
    for index in [0, 1, 3] {
      #expect(try MigrationFolder.bytes("\(old)/\(names[index])") == MigrationFolder.bytes("\(new)/\(names[index])"))
    }
    let other = try folder.place("taken")
    try FileManager.default.createDirectory(
      atPath: ExternalDataFolder(store: other).path, withIntermediateDirectories: true)
    let before = try MigrationFolder.tree(folder.path)
    let error = #expect(throws: BatchError.self) { try folder.migrate(folder.request(store, output: other)) }
    #expect(error?.code == .refused)
    #expect(try MigrationFolder.tree(folder.path) == before)
  }
}

private enum FileDamage { case lost, torn, changed }

/// A disk without hard links, as some network and removable ones are. It may lose or change a file while that is
/// copied.
private struct WithoutLinks: FileSystem {
  private let disk = LocalFileSystem()
  var damage: (name: String, kind: FileDamage)?
  func open(_ path: String, _ mode: OpenMode) throws -> any File { try disk.open(path, mode) }
  func rename(_ source: String, to destination: String) throws {
    try disk.rename(source, to: destination)
    guard let damage, FilePaths.name(of: destination) == damage.name else { return }
    switch damage.kind {
    case .lost: try disk.remove(destination)
    case .torn: try disk.open(destination, .update).truncate(to: 1)
    case .changed: try [7].withUnsafeBytes { try disk.open(destination, .update).write($0, at: 1) }
    }
  }
  func link(_ source: String, to destination: String) throws {
    throw StreamsError(.unsupported, "no links here", path: destination)
  }
  func remove(_ path: String) throws { try disk.remove(path) }
  func makeDirectory(_ path: String) throws { try disk.makeDirectory(path) }
  func list(_ path: String) throws -> [String] { try disk.list(path) }
  func status(_ path: String) throws -> FileStatus? { try disk.status(path) }
  func syncDirectory(_ path: String) throws { try disk.syncDirectory(path) }
  func availableSpace(_ path: String) throws -> UInt64 { try disk.availableSpace(path) }
}
