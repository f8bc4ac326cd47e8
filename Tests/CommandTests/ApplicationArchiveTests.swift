import Foundation
import Testing

@testable import Codecs

@Suite("Applications in archives")
struct ApplicationArchiveTests {
  private let folder: CommandFolder
  private let path: String

  init() throws {
    folder = try CommandFolder()
    path = folder.file("App.ipa")
  }

  @Test("An .ipa migrates a store as its sources do, and leaves nothing unpacked")
  func whole() throws {
    try ZipFile(ApplicationFolder.compiled()).write(to: path)
    let temporary = folder.newPath("temporary")
    try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
    let launcher = ["/usr/bin/env", "TMPDIR=\(temporary)"]
    let map = try folder.run("book-migration", ["app", path], launcher: launcher)
    #expect(map.output.hasPrefix("\(path): ipa, 1 model, 3 mapping models, 0 policies\n"))
    #expect(map.output.contains("  Library 1 to Library 2: Payload/App.app/Library1_to_Library2.cdm\n"))
    let (store, other) = (try folder.sample(rows: 400), try folder.sample("Other.sqlite", rows: 400))
    let arguments = ["--progress", "none"]
    let done = try folder.run("book-migration", ["migrate", store, "--app", path] + arguments, launcher: launcher)
    #expect(try FileManager.default.contentsOfDirectory(atPath: temporary) == [])
    #expect(
      done.code == 0
        && done.error.contains("taken: Payload/App.app/Library.momd, whose version Library 1 is the store's"))
    #expect(try folder.run("book-migration", ["migrate", other] + CommandFolder.models + arguments).code == 0)
    let compared = try folder.run("godwit", ["diff", store, other, "--app", path])
    #expect(compared.code == 0 && compared.output.contains("no difference"))
    #expect(try folder.run("godwit", ["verify", store, "--app", path]).code == 0)
    let exports = try [store, other].map {
      try folder.run("godwit", ["export", $0, "--app", path, "--to-many"]).output
    }
    #expect(
      exports[0].count > 1000
        && exports[0].replacing("Library.sqlite", with: "") == exports[1].replacing("Other.sqlite", with: ""))
  }

  @Test("A run with an archive that is killed goes on without it")
  func killed() throws {
    try ZipFile(ApplicationFolder.compiled()).write(to: path)
    let store = try folder.sample(rows: 6000)
    let process = try CommandProcess(
      "book-migration", ["migrate", store, "--checkpoint-every", "20kB"] + CommandFolder.slowly + ["--app", path],
      in: folder)
    let job = (store as NSString).deletingLastPathComponent + "/.Library.sqlite.godwit"
    while process.isRunning, CommandFolder.checkpoints(job).count < 2 { usleep(2000) }
    process.send(SIGKILL)
    #expect(try process.wait().code == 128 + SIGKILL)
    try FileManager.default.removeItem(atPath: path)
    #expect(try folder.run("book-migration", ["resume", store]).code == 0)
  }

  /// What the program says of an archive with these files, which it must refuse.
  private func refusal(_ change: (inout ZipFile) throws -> Void) throws -> String {
    var file = ZipFile(try ApplicationFolder.compiled())
    try change(&file)
    try file.write(to: path)
    return try refused()
  }

  private func refused() throws -> String {
    let outcome = try folder.run("godwit", ["app", path])
    #expect(outcome.code == 20, "\(outcome)")
    #expect(outcome.error.hasPrefix("godwit: \(path): ") && outcome.error.contains("nothing was written"))
    return outcome.error
  }

  @Test(
    "A path that leads out is refused by its name",
    arguments: ["Payload/../../evil.mom", "/etc/evil.mom", "..\\evil.mom"])
  func traversal(name: String) throws {
    let text = try refusal { $0.entries.append(ZipFile.Entry(name: name, bytes: [1])) }
    #expect(text.contains("the file \(name) of this zip archive is not read"))
    #expect(!name.hasPrefix("/") || text.contains("its path begins at the root of the disk"), "\(text)")
  }

  @Test("A symbolic link in the place of a model is refused by its name")
  func link() throws {
    let name = "Payload/App.app/Library.momd/Evil.mom"
    let text = try refusal {
      $0.entries.append(ZipFile.Entry(name: name, bytes: Array("/etc/passwd".utf8), mode: 0o120777, isDeflated: false))
    }
    #expect(text.contains("the file \(name) of this zip archive is not read: it is a symbolic link"))
  }

  @Test(
    "A symbolic link in the place of a folder is refused by its name, whatever lies below it",
    arguments: ["Payload/App.app/Evil.momd", "Payload/App.app", "Payload/./App.app/Library.momd"])
  func linkedFolder(name: String) throws {
    let text = try refusal {
      $0.entries.append(ZipFile.Entry(name: name, bytes: Array("/etc".utf8), mode: 0o120777, isDeflated: false))
    }
    let message = "the file \(name) of this zip archive is not read: it is a symbolic link in the place of a folder"
    #expect(text.contains(message), "\(text)")
  }

  @Test("A signal while an application is looked through ends the command, and it says nothing of what is removed")
  func signal() throws {
    var file = ZipFile(try ApplicationFolder.compiled())
    let models = file.entries.filter { $0.name.contains(".momd/") }
    for number in 0..<300 {
      file.entries += models.map { entry in
        var entry = entry
        (entry.name, entry.isDeflated) = (entry.name.replacing("App.app/", with: "App.app/\(number)/"), false)
        return entry
      }
    }
    try file.write(to: path)
    let temporary = folder.newPath("temporary")
    try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
    func left() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: temporary) }
    for turn in 0..<4 {
      let launcher = ["/usr/bin/env", "TMPDIR=\(temporary)"]
      let process = try CommandProcess("godwit", ["app", path], in: folder, launcher: launcher)
      while process.isRunning, try left().isEmpty { usleep(500) }
      usleep(UInt32(turn) * 50_000)
      process.send(SIGINT)
      let outcome = try process.wait()
      // A command that was done before the signal has said all.
      let isWhole = outcome.output.split(separator: "\n").count { $0.hasPrefix("  also in ") } == 300
      #expect(outcome.code == 128 + SIGINT || (outcome.code == 0 && isWhole), "\(outcome.code)")
      #expect(!outcome.output.contains("not read") && outcome.error.isEmpty, "\(outcome.error.prefix(500))")
      #expect(try left() == [])
    }
  }

  @Test("A file that unpacks to more than it says, or to more than any model, is refused by its name")
  func bombs() throws {
    let name = "Payload/App.app/Bomb.momd/Bomb.mom"
    let zeros = [UInt8](repeating: 0, count: 4 << 20)
    let more = try refusal { $0.entries.append(ZipFile.Entry(name: name, bytes: zeros, size: 1000)) }
    #expect(more.contains("\(name) of this zip archive is not read") && more.contains("it holds more than 1000 bytes"))
    let huge = try refusal { $0.entries.append(ZipFile.Entry(name: name, bytes: zeros, size: 200 << 20)) }
    #expect(huge.contains("it has more than 64 MiB"))
    let many = try refusal { file in
      for number in 0..<5 {
        file.entries.append(
          ZipFile.Entry(name: "Payload/App.app/B.momd/\(number).mom", bytes: [1], isDeflated: false, size: 60 << 20))
      }
    }
    #expect(many.contains("more than 256 MiB"))
  }

  @Test("Damage, encryption, unknown methods and contradictions are refused by name")
  func damage() throws {
    let name = "Payload/App.app/X.mom"
    func entry(_ change: (inout ZipFile.Entry) -> Void) throws -> String {
      try refusal {
        var entry = ZipFile.Entry(name: name, bytes: Array("some text".utf8))
        change(&entry)
        $0.entries.append(entry)
      }
    }
    #expect(
      try entry { $0.checksum = 7 }.contains("\(name) of this zip archive is not read: its contents are not those"))
    #expect(try entry { $0.flags = 1 }.contains("\(name) of this zip archive is not read: it is encrypted"))
    #expect(try entry { $0.method = 12 }.contains("it is packed by method 12, which is not known"))
    #expect(try entry { $0.headerName = "Other" }.contains("its header has another name, Other"))
    let twice = try refusal {
      $0.entries += [ZipFile.Entry(name: name, bytes: [1]), ZipFile.Entry(name: name, bytes: [2])]
    }
    #expect(twice.contains("the file \(name) is in this zip archive twice"))
    let both = try refusal {
      $0.entries += [ZipFile.Entry(name: name, bytes: [1]), ZipFile.Entry(name: name + "/Y.mom", bytes: [2])]
    }
    #expect(both.contains("\(name) is a file and a folder in this zip archive"))
  }

  @Test("Archives that are cut off or whose files share bytes are refused")
  func shared() throws {
    let whole = ZipFile(try ApplicationFolder.compiled()).bytes
    for count in [whole.count - 1, whole.count / 2, 30, 5] {
      try Data(whole[..<count]).write(to: URL(fileURLWithPath: path))
      #expect(try refused().contains("this zip archive is not read"))
    }
    // The second file of the directory gets the place of the first one.
    var bytes = ZipFile(["A.mom": [1, 2, 3], "B.mom": [1, 2, 3]]).bytes
    let second = try #require(bytes.indices.last { bytes[$0...].starts(with: [0x50, 0x4B, 1, 2]) })
    bytes.replaceSubrange(second + 42..<second + 46, with: ZipFile.long(0))
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    #expect(try refused().contains("its file B.mom lies where another one is"))
  }

  @Test("No damaged byte of an archive ends the program in another way than by an error")
  func mutated() throws {
    let whole = ZipFile(["A.momd/A.mom": Array("some model".utf8), "B.cdm": [1, 2, 3]]).bytes
    for place in whole.indices {
      var bytes = whole
      bytes[place] ^= 0xFF
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      let archive = try? ZipArchive(path: path)
      for entry in archive?.entries ?? [] { _ = try? archive?.contents(of: entry, limit: 1 << 20) }
      archive?.close()
    }
  }
}
