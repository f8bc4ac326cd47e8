import Foundation
import RunSupport
import Testing

@testable import SwiftDataModels

/// Whether there is a git to test with.
private let hasGit = (try? GitCommand.run(["--version"], input: ""))?.code == 0

@Suite(
  "Sources of a commit are read by git's own command, without a checkout",
  .enabled(if: SourceParser.isThere && hasGit, "built without SwiftData, or no git"))
struct SwiftCommitTests {
  private struct Repository {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("git-\(UUID().uuidString)").path

    init() throws {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      try git("init", "-q", ".")
    }

    func git(_ words: String...) throws {
      let identity = [
        "-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false",
      ]
      let answer = try GitCommand.run(["-C", path] + identity + words, input: "")
      guard answer.code == 0 else { throw BatchError(.failed, answer.error) }
    }

    func commit(_ files: [String: String], tag: String) throws {
      for (name, text) in files {
        let file = URL(fileURLWithPath: path + "/" + name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
      }
      try git("add", "-A")
      try git("commit", "-q", "--allow-empty", "-m", tag)
      try git("tag", tag)
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
  }

  private func model(_ properties: String) -> String { "@Model class A { \(properties) }" }

  @Test("Versions of several tags are one model; equal ones are one version, and others of one name have the tag's")
  func tags() throws {
    let repository = try Repository()
    defer { repository.remove() }
    let package = ["Package.swift": "let a = 1", "Tests/T.swift": model("var t: Int")]
    try repository.commit(package.merging(["Sources/ä b/A.swift": model("var n: Int")]) { $1 }, tag: "1.0")
    try repository.commit([:], tag: "1.0.1")
    try repository.commit(["Sources/ä b/A.swift": model("var n: Int; var m: Int?")], tag: "feature/2.0")
    try repository.commit(["Sources/ä b/A.swift": model("var n: Int; var m: Int?; var o = 1")], tag: "3.0")
    let reader = try SwiftDataReader()
    let path = repository.path
    let bundles = try reader.read([path + "@1.0", path + "@1.0.1", path + "@feature/2.0", path])
    #expect(bundles.count == 1)
    #expect(bundles[0].versions.map(\.name) == ["1.0.0@1.0", "1.0.0@feature-2.0", "1.0.0"])
    #expect(bundles[0].versions.map { $0.entities[0].attributes.count } == [1, 2, 3])
    #expect(bundles[0].currentVersion == "1.0.0" && bundles[0].name == URL(fileURLWithPath: path).lastPathComponent)
    for name in ["Sources@1.0", "Sources/ä b@1.0", "Sources/ä b/A.swift@1.0", "Sources@HEAD~3"] {
      #expect(reader.reads("\(path)/\(name)"), "\(name)")
      #expect(try reader.read(["\(path)/\(name)"])[0].versions[0].versionHashes == bundles[0].versions[0].versionHashes)
    }
    // Files that are gone in the working tree are there in the commit.
    try FileManager.default.removeItem(atPath: path + "/Sources")
    #expect(try reader.read([path + "/Sources@1.0"])[0].versions.count == 1)
  }

  @Test("A branch that moved gives the models of its new commit")
  func moved() throws {
    let repository = try Repository()
    defer { repository.remove() }
    try repository.commit(["A.swift": model("var n: Int")], tag: "1.0")
    try repository.git("branch", "next")
    let (reader, path) = (try SwiftDataReader(), repository.path + "@next")
    let mark = try reader.mark(of: [path])
    #expect(try reader.mark(of: [path]) == mark)
    try repository.commit(["A.swift": model("var m: Int")], tag: "2.0")
    #expect(try reader.mark(of: [path]) == mark)
    try repository.git("branch", "-f", "next")
    #expect(try reader.mark(of: [path]) != mark)
    #expect(try reader.read([path])[0].versions[0].entities[0].attributes.map(\.name) == ["m"])
  }

  @Test("A tag that is not there, a folder without git or without Swift, and an option as a tag are refused")
  func refused() throws {
    let repository = try Repository()
    defer { repository.remove() }
    try repository.commit(["A.swift": model("var n: Int"), "doc/a.txt": "x", "B.swift": "class {"], tag: "1.0")
    func problem(_ path: String) -> String {
      do {
        _ = try SwiftDataReader().read([path])
        return ""
      } catch { return "\(error)" }
    }
    let path = repository.path
    #expect(problem(path + "@2.0").contains("the repository has no tag, branch or commit named 2.0"))
    #expect(problem(path + "@2.0").contains("git -C "))
    #expect(problem(path + "@--output=x").contains("has no tag, branch or commit named --output=x"))
    #expect(problem(path + "/doc@1.0").contains("there is no file of Swift"))
    #expect(problem(path + "/none@1.0").contains("there is no file of Swift"))
    #expect(problem(path + "@1.0").hasPrefix("\(path)/B.swift@1.0:1: this is no Swift"))
    let elsewhere = FileManager.default.temporaryDirectory.appendingPathComponent("none-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: elsewhere) }
    #expect(problem(elsewhere + "@1.0").contains("git cannot read it"))
  }
}
