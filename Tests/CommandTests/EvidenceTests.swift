import Foundation
import Glibc
import Testing

@testable import Codecs

/// Stores of an examination: with changes in their logs, on media that cannot be written, and under watch.
@Suite("Readers leave evidence as it is")
struct EvidenceTests {
  private let folder: CommandFolder
  private let store: String

  init() throws {
    folder = try CommandFolder()
    store = try folder.sample(rows: 400)
    try folder.keepInLog(store)
    try FileManager.default.removeItem(atPath: store + "-shm")
  }

  /// Commands that only read, with what they must say of the change in the log.
  private func readers(_ store: String) -> [(words: [String], says: String)] {
    [
      (["inspect", store, "--count", "--hash"], "-wal file"), (["metadata", store], "NSStoreType"),
      (["export", store, "User", "--hash"], "in the log"), (["export", "--raw", store, "--hash"], "in the log"),
      (["verify", store, "--hash"], "the store is as it was"),
      (["identify", store, "--models", ExampleFolder.models], "Library 1"),
      (["diff", "--contents", store, store, "--hash"], "no difference"),
    ]
  }

  private struct Times: Equatable {
    let words: [String]

    init(_ path: String) throws {
      words = try ["", "-wal"].map { suffix in
        var status = stat()
        guard lstat(path + suffix, &status) == 0 else { throw CommandProcess.Missing(description: path + suffix) }
        let times = [status.st_atim, status.st_mtim, status.st_ctim].map { "\($0.tv_sec).\($0.tv_nsec)" }
        return
          "\(status.st_ino) \(status.st_size) \(times) \(SHA256.hash([UInt8](try CommandFolder.bytes(path + suffix))))"
      }
    }
  }

  /// Gives the files an old time of access: whoever reads them in the usual way sets it to now.
  private func age(_ path: String) {
    for suffix in ["", "-wal"] {
      var times = [timespec(tv_sec: 900_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000_000, tv_nsec: 0)]
      utimensat(AT_FDCWD, path + suffix, &times, 0)
    }
  }

  private func accessTime(_ path: String) -> Int {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_atim.tv_sec : -1
  }

  @Test("Not a byte and no time changes, not even that of the last access, and nothing is left beside the store")
  func untouched() throws {
    for reader in readers(store) {
      age(store)
      let before = (try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted(), accessTime(store))
      let outcome = try folder.run("godwit", reader.words)
      #expect(
        outcome.code == 0 && (outcome.output + outcome.error).contains(reader.says), "\(reader.words): \(outcome)")
      #expect(accessTime(store) == before.1 && accessTime(store + "-wal") == before.1, "\(reader.words)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before.0, "\(reader.words)")
    }
  }

  @Test("Media that cannot be written are read with the log", .enabled(if: SmallDisk.isPossible, "mounting needs root"))
  func readOnly() throws {
    let disk = try SmallDisk(at: folder.newPath("media"), megabytes: 8)
    defer { disk.unmount() }
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: store + suffix, toPath: disk.path + "/Evidence.sqlite" + suffix)
    }
    // MS_REMOUNT and MS_RDONLY.
    try #require(mount("none", disk.path, "tmpfs", 32 | 1, nil) == 0)
    let path = disk.path + "/Evidence.sqlite"
    let before = try Times(path)
    for reader in readers(path) {
      let outcome = try folder.run("godwit", reader.words)
      #expect(
        outcome.code == 0 && (outcome.output + outcome.error).contains(reader.says), "\(reader.words): \(outcome)")
    }
    #expect(try Times(path) == before)
  }

  @Test("--hash says what was read, and is an error if it changed meanwhile")
  func hashes() throws {
    let outcome = try folder.run("godwit", ["export", store, "User", "--hash"])
    for suffix in ["", "-wal"] {
      let bytes = [UInt8](try CommandFolder.bytes(store + suffix))
      let hash = SHA256.hash(bytes).map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
      #expect(outcome.error.contains("sha256 \(hash)  \(bytes.count) bytes  \(store + suffix)\n"), "\(outcome.error)")
    }
    #expect(!outcome.output.contains("sha256"))
  }
}
