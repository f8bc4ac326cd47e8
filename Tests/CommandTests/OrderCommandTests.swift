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

  /// The names of versions of a model; an attribute changes from a text to a date, which nothing says how to do.
  private func changed(_ folder: CommandFolder, _ names: [String]) throws -> (models: String, store: String) {
    let (models, store) = (folder.newPath("Wed.xcdatamodeld"), folder.file("Wed.sqlite"))
    for (number, name) in names.enumerated() {
      let path = "\(models)/\(name).xcdatamodel"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      try """
      <model type="com.apple.IDECoreDataModeler.DataModel"><entity name="Lamp"><attribute name="lit" optional="YES" \
      attributeType="\(number == 0 ? "String" : "Date")"/>\(number == 2 ? "<attribute name=\"more\" optional=\"YES\" attributeType=\"String\"/>" : "")\
      </entity></model>
      """.write(toFile: path + "/contents", atomically: false, encoding: .utf8)
    }
    let words = ["sample", models, "--version", names[0], "--rows", "20", "--output", store]
    #expect(try folder.run("godwit", words).code == 0)
    return (models, store)
  }

  @Test("Where a step cannot be inferred, the message has the command that begins its mapping file", arguments: [2, 3])
  func noPath(count: Int) throws {
    let folder = try CommandFolder()
    let (models, store) = try changed(folder, ["Wed 1", "Wed 2", "Wed 3"].dropLast(3 - count))
    let words = ["plan", store, "--models", models]
    let refused = try folder.run("godwit", words)
    #expect(refused.code == 20 && refused.error.contains("no path leads from Wed 1 to Wed \(count)"), "\(refused)")
    // The order that is listed is advised to nobody, and of two versions there is no other one.
    #expect(!refused.error.contains("--versions '") && !refused.error.contains("--history"), "\(refused)")
    #expect(refused.error.contains("give that with --versions") == (count == 3), "\(refused)")
    let begin = try #require(refused.error.firstMatch(of: /`(godwit mapping init [^`]*)`/)?.1)
    let file = folder.newPath("Step.yaml")
    let drafted = try folder.paste("\(begin) > \(file)")
    #expect(drafted.code == 0, "\(drafted)")
    let checked = try folder.run("godwit", ["mapping", "check", file, "--models", models])
    #expect(checked.output.contains("Wed 1 to Wed 2") && checked.output.contains("to decide"), "\(checked)")
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
