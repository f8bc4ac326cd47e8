import Foundation
import GRDB
import Glibc
import Testing

@testable import MigrationJobs

// Names from models: HostileNamesTests. What SQLite may do: GuardedConnectionTests.
@Suite("What others may not do, nor learn", .serialized) struct SecurityTests {
  private let folder: CommandFolder
  private let store: String

  init() throws {
    folder = try CommandFolder()
    store = try folder.sample(rows: 6000)
  }

  private func mode(_ path: String) -> mode_t {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
  }

  @Test(
    "Every file of a run is its owner's alone, whatever the umask is; in place the new store has the old one's mode")
  func modes() throws {
    let permissive = ["/bin/sh", "-c", "umask 0; exec \"$@\"", "sh"]
    try folder.keepInLog(store)
    chmod(store, 0o664)
    let arguments = ["migrate", store, "--checkpoint-every", "20kB"] + CommandFolder.slowly + CommandFolder.models
    let process = try CommandProcess("book-migration", arguments, in: folder, launcher: permissive)
    let job = try JobDirectory(destination: store).path
    while process.isRunning, CommandFolder.checkpoints(job).count < 2 { usleep(2000) }
    process.send(SIGKILL)
    #expect(try process.wait().code == 128 + SIGKILL)
    let names = try FileManager.default.subpathsOfDirectory(atPath: job)
    #expect(names.count > 10)
    for name in names + ["."] {
      var isDirectory: ObjCBool = false
      #expect(FileManager.default.fileExists(atPath: "\(job)/\(name)", isDirectory: &isDirectory))
      #expect(mode("\(job)/\(name)") == (isDirectory.boolValue ? 0o700 : 0o600), "\(name)")
    }
    #expect(try folder.run("book-migration", ["resume", store], launcher: permissive).code == 0)
    #expect(mode(store) == 0o664)
    let output = folder.file("New.sqlite")
    let made = ["migrate", try folder.sample("Other.sqlite", rows: 100), "--output", output] + CommandFolder.models
    #expect(try folder.run("book-migration", made, launcher: permissive).code == 0)
    #expect(mode(output) == 0o600)
  }

  @Test(
    "A symbolic link in the place of any file of a run is not followed: a resume is refused, and what it leads to stays"
  )
  func links() throws {
    let job = try folder.interrupted(store)
    let precious = folder.newPath("precious")
    let manager = FileManager.default
    for name in try manager.contentsOfDirectory(atPath: job) {
      try manager.moveItem(atPath: "\(job)/\(name)", toPath: precious)
      try manager.createSymbolicLink(atPath: "\(job)/\(name)", withDestinationPath: precious)
      let (before, kept) = (try contents(precious), try CommandFolder.bytes(store))
      let outcome = try folder.run("book-migration", ["resume", store])
      #expect(outcome.code != 0 && outcome.error.contains(name), "\(name): \(outcome)")
      #expect(try contents(precious) == before && CommandFolder.bytes(store) == kept, "\(name)")
      try manager.removeItem(atPath: "\(job)/\(name)")
      try manager.moveItem(atPath: precious, toPath: "\(job)/\(name)")
    }
    #expect(try folder.run("book-migration", ["resume", store]).code == 0)
  }

  private func contents(_ path: String) throws -> [String: Data] {
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
    return Dictionary(
      uniqueKeysWithValues: ([""] + names).map { ($0, (try? CommandFolder.bytes(path + "/" + $0)) ?? Data()) })
  }

  private static let proofs = ["fast", "full", "sqlite"].map { ["--verify", $0, "--models", ExampleFolder.models] }

  @Test("What attributes hold gets into no log, progress, summary or error, only into the stores")
  func values() throws {
    let secret = "Sesame-\(UInt32.random(in: 0 ... .max))-"
    let queue = try DatabaseQueue(path: store)
    try queue.write { db in
      try db.execute(sql: "UPDATE ZUSER SET ZNAME = '\(secret)' || Z_PK; UPDATE ZBOOK SET ZTITLE = '\(secret)' || Z_PK")
    }
    try queue.close()
    let original = try CommandFolder.bytes(store)
    var told = ""
    func run(_ arguments: [String]) throws {
      let outcome = try folder.run("book-migration", arguments)
      told += "\(arguments)\n\(outcome.output)\n\(outcome.error)\n"
    }
    let job = try folder.interrupted(store)
    let verification = [
      "--against", store + ".old", "--models", ExampleFolder.models, "--mappings", ExampleFolder.mappings,
    ]
    let report = ["report", store, "--json"]
    for arguments in [
      ["status", store], ["inspect", store], ["plan", store] + CommandFolder.models, report, ["resume", store], report,
    ] {
      told += (try? String(contentsOfFile: job + "/log", encoding: .utf8)) ?? ""
      try run(arguments)
    }
    try original.write(to: URL(fileURLWithPath: store + ".old"))
    // A value that is not the source's, and a page that is damaged.
    let changed = try DatabaseQueue(path: store)
    try changed.write {
      try $0.execute(sql: "UPDATE ZUSER SET ZNAME = ZNAME || 'x' WHERE Z_PK = (SELECT min(Z_PK) FROM ZUSER)")
    }
    try changed.close()
    try run(["verify", store] + verification)
    var bytes = try CommandFolder.bytes(store)
    bytes[bytes.count / 2] ^= 0x55
    try bytes.write(to: URL(fileURLWithPath: store))
    for proof in Self.proofs { try run(["verify", store] + proof) }
    #expect(told.contains("verified") && told.count > 1000)
    #expect(!told.contains(secret), "\(told.split(separator: "\n").filter { $0.contains(secret) }.prefix(3))")
  }
}
