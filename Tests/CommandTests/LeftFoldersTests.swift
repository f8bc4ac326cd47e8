import Foundation
import Glibc
import Testing

@testable import RunSupport

@Suite("Temporary folders of processes that were killed")
struct LeftFoldersTests {
  private let folder: CommandFolder
  private let temporary: String
  private let store: String

  init() throws {
    folder = try CommandFolder()
    temporary = folder.newPath("tmp")
    try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
    store = try folder.sample(rows: 20_000)
  }

  private var words: [String] {
    ["export", store, "--to-many", "--output", "/dev/null", "--models", ExampleFolder.models]
  }
  private var launcher: [String] { ["/usr/bin/env", "TMPDIR=\(temporary)"] }

  private func left() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: temporary).sorted() }

  private func age(_ name: String) {
    var times = [timespec](repeating: timespec(tv_sec: time(nil) - 300, tv_nsec: 0), count: 2)
    #expect(utimensat(AT_FDCWD, temporary + "/" + name, &times, AT_SYMLINK_NOFOLLOW) == 0)
  }

  @Test("What a killed export left is removed by the next command that needs a temporary folder")
  func killed() throws {
    for _ in 0..<30 where try left().isEmpty {
      let process = try CommandProcess("godwit", words, in: folder, launcher: launcher)
      while process.isRunning, try left().isEmpty { usleep(100) }
      process.send(SIGKILL)
      _ = try process.wait()
    }
    let name = try #require(try left().first)
    // It may belong to a process that has just begun.
    #expect(try folder.run("godwit", words, launcher: launcher).code == 0)
    #expect(try left() == [name])
    age(name)
    #expect(try folder.run("godwit", words, launcher: launcher).code == 0)
    #expect(try left().isEmpty)
  }

  @Test("A folder that is locked, young, without the name's end or a link stays, and so does what links lead to")
  func others() throws {
    let outside = folder.newPath("outside")
    let names =
      ["dead", "young", "locked", "link"].map { "godwit-\($0)\(TemporaryFolders.ending)" } + ["godwit-export-1"]
    let paths = names.map { temporary + "/" + $0 }
    for path in [outside, paths[0], paths[1], paths[2], paths[4]] {
      try FileManager.default.createDirectory(atPath: path + "/inner", withIntermediateDirectories: true)
      try Data([1]).write(to: URL(fileURLWithPath: path + "/inner/file"))
    }
    for path in [paths[3], paths[0] + "/link"] {
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: outside)
    }
    let lock = open(paths[2], O_RDONLY | O_CLOEXEC)
    defer { close(lock) }
    #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
    for place in [0, 2, 3, 4] { age(names[place]) }
    #expect(try folder.run("godwit", words, launcher: launcher).code == 0)
    #expect(try left() == names.dropFirst().sorted())
    #expect(FileManager.default.fileExists(atPath: outside + "/inner/file"))
  }
}
