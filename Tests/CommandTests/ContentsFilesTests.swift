import Foundation
import GRDB
import Testing

@testable import CoreDataStore

@Suite("Comparison of what two stores hold: values beside the stores")
struct ContentsFilesTests {
  private static let other = "11111111-7C3F-4E55-9E3B-6D1C8F0A2B11"

  private let folder: CommandFolder
  private let old: String
  private let new: String

  init() throws {
    folder = try CommandFolder()
    old = try ZooModel.store(folder).store
    new = folder.file("later/Zoo.sqlite")
    try FileManager.default.createDirectory(atPath: folder.file("later"), withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: old, toPath: new)
    try FileManager.default.copyItem(
      atPath: ExternalDataFolder(store: old).path, toPath: ExternalDataFolder(store: new).path)
  }

  private func file(_ store: String, _ name: String = ZooModel.photo) -> URL {
    URL(fileURLWithPath: ExternalDataFolder(store: store).files + "/" + name)
  }

  private func diff(_ words: [String] = []) throws -> String {
    try expectLook(["diff", "--contents", old, new] + words, in: folder)
  }

  private func execute(_ sql: String) throws {
    let queue = try DatabaseQueue(path: new)
    try queue.write { try $0.execute(sql: sql) }
    try queue.close()
  }

  @Test("Files of the same bytes are no difference; of another length they are, as export writes them")
  func lengths() throws {
    #expect(try diff().contains("no difference\n"))
    try Data("other".utf8).write(to: file(new))
    let text = try diff()
    let (was, now) = (
      "{\"bytes\":200000,\"externalFile\":\"\(ZooModel.photo)\"}",
      "{\"bytes\":5,\"externalFile\":\"\(ZooModel.photo)\"}"
    )
    #expect(text.contains("\n~ Keeper 2\n    photo: \(was) -> \(now)\n"), "\(text)")
    #expect(text.contains("  Keeper: 1 changed, 4 the same\n"), "\(text)")
  }

  @Test("Other bytes of the same length are shown by their hashes, also without a model", arguments: [true, false])
  func bytes(isKnown: Bool) throws {
    if !isKnown { for store in [old, new] { try folder.forgetModel(of: store) } }
    var bytes = try Data(contentsOf: file(new))
    bytes[bytes.count - 1] ^= 1
    try bytes.write(to: file(new))
    let changes = try #require(try document(try diff(["--json"]))["changes"] as? [[String: Any]])
    let values = try #require(changes.first?["values"] as? [String: [String: [String: Any]]])
    let photo = try #require(values[isKnown ? "photo" : "ZPHOTO"])
    #expect(changes.count == 1 && photo["old"]?["bytes"] as? Int == 200_000, "\(photo)")
    let hashes = ["old", "new"].compactMap { photo[$0]?["sha256"] as? String }
    #expect(hashes.count == 2 && hashes[0] != hashes[1] && hashes.allSatisfy { $0.count == 64 }, "\(photo)")
  }

  @Test("A file that is missing in one store is a difference, and a note names the object; missing in both is a note")
  func missing() throws {
    try FileManager.default.removeItem(at: file(new))
    let text = try diff()
    #expect(text.contains("-> {\"bytes\":null,\"externalFile\":"), "\(text)")
    let lost = "store lacks a file with external data, that of object 2\n"
    #expect(text.contains("note: Keeper.photo: the new \(lost)") && !text.contains("the old \(lost)"), "\(text)")
    try FileManager.default.removeItem(at: file(old))
    let both = try diff()
    #expect(both.contains("no difference\n"), "\(both)")
    #expect(both.contains("note: Keeper.photo: the new \(lost)") && both.contains("the old \(lost)"), "\(both)")
  }

  @Test("A file of another name is no difference, nor is a value that lies in the row, if the bytes are the same")
  func names() throws {
    try FileManager.default.moveItem(at: file(new), to: file(new, Self.other))
    try execute("UPDATE ZKEEPER SET ZPHOTO = CAST(x'02' || '\(Self.other)' || x'00' AS BLOB) WHERE Z_PK = 2")
    #expect(try diff().contains("no difference\n"))
    let bytes = try Data(contentsOf: file(old)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    try execute("UPDATE ZKEEPER SET ZPHOTO = x'01\(bytes)' WHERE Z_PK = 2")
    #expect(try diff().contains("no difference\n"))
    try execute("UPDATE ZKEEPER SET ZPHOTO = x'01\(bytes.dropLast(2))' WHERE Z_PK = 2")
    #expect(try diff().contains("  Keeper: 1 changed, 4 the same\n"))
  }

  @Test("Sizes are those of export for objects that were added and removed, too")
  func whole() throws {
    try execute("DELETE FROM ZKEEPER WHERE Z_PK = 2")
    let text = try diff(["--json"])
    #expect(
      text.contains("\"photo\":{\"old\":{\"bytes\":200000,\"externalFile\":\"\(ZooModel.photo)\"}}"), "\(text)")
  }

  @Test(
    "Files of any size stay within 64 MiB",
    .enabled(if: ProcessInfo.processInfo.environment["GODWIT_LARGE"] != nil, "set GODWIT_LARGE"))
  func large() throws {
    for store in [old, new] {
      let handle = try FileHandle(forWritingTo: file(store))
      try handle.truncate(atOffset: 1 << 30)
      if store == new {
        try handle.seek(toOffset: 1 << 30 - 1)
        try handle.write(contentsOf: Data([1]))
      }
      try handle.close()
    }
    let outcome = try folder.run(
      "godwit", ["diff", "--contents", old, new], launcher: ["/usr/bin/time", "-f", "%M"])
    let peak = try #require(Int(outcome.error.split(separator: "\n").last ?? ""))
    #expect(outcome.output.contains("Keeper: 1 changed") && peak < 64 << 10, "\(outcome)")
  }
}
