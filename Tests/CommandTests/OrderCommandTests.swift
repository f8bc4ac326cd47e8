import Foundation
import Testing

/// The options of `plan` and `migrate` for the order of versions.
@Suite("Orders of versions in the command")
struct OrderCommandTests {
  private static let stages = """
    stages:
      - { from: Library 1, to: Library 2 }
      - from: Library 2
        to: Library 3
        mappings: [Library2_to_Library3, Library2_to_Library3_User]
    """

  @Test("Stages from a file are planned and migrated")
  func stages() throws {
    let folder = try CommandFolder()
    let store = try folder.sample(rows: 400)
    let file = folder.newPath("stages.yaml")
    try Self.stages.write(toFile: file, atomically: true, encoding: .utf8)
    let plan = try folder.run("book-migration", ["plan", store, "--stages", file] + CommandFolder.models)
    #expect(plan.code == 0 && plan.output.contains("step 1: Library 1 to Library 2, mapped"), "\(plan)")
    #expect(plan.output.contains("step 2: Library 2 to Library 3, mapped"))
    let migrated = try folder.run("book-migration", ["migrate", store, "--stages", file] + CommandFolder.models)
    #expect(migrated.code == 0 && migrated.output.contains("version Library 3"), "\(migrated)")
    let again = try folder.run("book-migration", ["plan", store, "--check", "--stages", file] + CommandFolder.models)
    #expect(again.code == 3)
    try "stages: [a]".write(toFile: file, atomically: true, encoding: .utf8)
    let wrong = try folder.run("book-migration", ["plan", store, "--stages", file] + CommandFolder.models)
    #expect(wrong.code == 20 && wrong.error.contains("line 1: a stage has to be keys and values"), "\(wrong)")
  }

  @Test("Versions are listed in the argument or in a file, and their last one is the target")
  func versions() throws {
    let folder = try CommandFolder()
    let store = try folder.sample(rows: 100)
    let file = folder.newPath("versions")
    try "Library 1\n\n  Library 2\n".write(toFile: file, atomically: true, encoding: .utf8)
    for list in ["Library 1,Library 2", file] {
      let plan = try folder.run("book-migration", ["plan", store, "--versions", list] + CommandFolder.models)
      #expect(plan.code == 0 && plan.output.contains("version Library 1 to Library 2"), "\(plan)")
    }
    let unknown = try folder.run(
      "book-migration", ["plan", store, "--versions", "Library 1,Moon"] + CommandFolder.models)
    #expect(unknown.code == 20 && unknown.error.contains("no version is named Moon"))
    let empty = try folder.run("book-migration", ["plan", store, "--versions", ","] + CommandFolder.models)
    #expect(empty.code == 20 && empty.error.contains("--versions names no version"))
    let both = try folder.run(
      "book-migration", ["plan", store, "--versions", "a", "--by-identifier"] + CommandFolder.models)
    #expect(both.code == 64 && both.error.contains("exclude each other"))
  }

  /// A bundle whose first version has its name, as Xcode makes it; each later one has an attribute more.
  private func lamps(_ folder: CommandFolder) throws -> String {
    let bundle = folder.newPath("Lamps.xcdatamodeld")
    let first = (bundle as NSString).lastPathComponent.replacing(".xcdatamodeld", with: "")
    for (number, name) in [first, "2", "10"].enumerated() {
      let attributes = (0...number).map {
        "<attribute name=\"a\($0)\" optional=\"YES\" attributeType=\"Integer 16\"/>"
      }
      let path = "\(bundle)/\(name).xcdatamodel"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      try """
      <model type="com.apple.IDECoreDataModeler.DataModel"><entity name="Lamp">\(attributes.joined())</entity></model>
      """.write(toFile: path + "/contents", atomically: false, encoding: .utf8)
    }
    return bundle
  }

  @Test("Xcode's first version comes first; the command that a message names leads back to it")
  func back() throws {
    let folder = try CommandFolder()
    let (models, store) = (try lamps(folder), folder.file("Lamps.sqlite"))
    let first = (models as NSString).lastPathComponent.replacing(".xcdatamodeld", with: "")
    let made = try folder.run(
      "godwit", ["sample", models, "--version", first, "--rows", "20", "--output", store])
    #expect(made.code == 0, "\(made)")
    let forward = try folder.run("godwit", ["migrate", store, "--models", models])
    #expect(forward.code == 0 && forward.output.contains("version 10,"), "\(forward)")
    let words = ["migrate", store, "--models", models, "--to", first, "--accept-loss"]
    let refused = try folder.run("godwit", words)
    #expect(refused.code == 20 && refused.error.contains("\(first) comes before 10, and inference goes forward only"))
    #expect(refused.error.contains("Known versions in their order, of \(first): \(first), 2, 10"), "\(refused)")
    let line = try #require(refused.error.firstMatch(of: /To go back all the same: `godwit (.*?)`/)?.1)
    #expect(line.hasSuffix("--versions 10,2,\(first)"), "\(line)")
    let script = folder.newPath("line")
    try "exec \"$@\" \(line)\n".write(toFile: script, atomically: true, encoding: .utf8)
    let done = try folder.run("godwit", [], launcher: ["/bin/sh", script])
    #expect(done.code == 0 && done.output.contains("version \(first),"), "\(done)")
  }
}
