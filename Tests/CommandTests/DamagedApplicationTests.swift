import Foundation
import Testing

@Suite("Applications with files that cannot be read")
struct DamagedApplicationTests {
  private let folder: CommandFolder
  private let app: ApplicationFolder
  private let first: String
  private let user: String

  init() throws {
    folder = try CommandFolder()
    app = try ApplicationFolder(in: folder, hasSwiftData: false)
    first = app.path + "/App/Mappings/Library1_to_Library2.xcmappingmodel"
    user = app.path + "/App/Mappings/Library2_to_Library3_User.cdm"
  }

  /// Leaves the first half of a file.
  private func cut(_ path: String) throws {
    let bytes = try CommandFolder.bytes(path)
    try bytes.prefix(bytes.count / 2).write(to: URL(fileURLWithPath: path))
  }

  private func run(_ words: [String]) throws -> CommandProcess.Outcome { try folder.run("book-migration", words) }

  /// The command between backticks.
  private func advised(_ outcome: CommandProcess.Outcome) throws -> String {
    let parts = outcome.error.split(separator: "`").filter { $0.contains("book-migration ") }
    return String(try #require(parts.last, "\(outcome)"))
  }

  @Test(
    "A step is not inferred if its mapping model is damaged: it is refused with the file and the command without it")
  func source() throws {
    try cut(first + "/xcmapping.xml")
    let store = try folder.sample(rows: 50)
    let before = try CommandFolder.bytes(store)
    for command in ["plan", "migrate"] {
      let refused = try run([command, store, "--app", app.path, "--to", "Library 2"])
      #expect(refused.code == 20 && refused.output.isEmpty, "\(refused)")
      let message =
        "\(app.path): a mapping model that Library 1 to Library 2 may need cannot be read, and without it data could be "
        + "lost: App/Mappings/Library1_to_Library2.xcmappingmodel: xcmapping.xml: the XML is damaged at line "
      #expect(refused.error.contains(message) && !refused.error.contains("Error Domain"), "\(refused)")
      #expect(refused.error.contains("Put a sound copy in its place. To go without it, name all that is wanted: `"))
      #expect(try CommandFolder.bytes(store) == before)
      let line = try advised(refused)
      #expect(line.hasPrefix("book-migration \(command) \(store) --to 'Library 2' --mappings "), "\(line)")
      guard command == "plan" else { continue }
      let without = try folder.paste(line)
      #expect(without.code == 0 && without.output.contains("Library 1 to Library 2, inferred"), "\(without)")
    }
    #expect(try run(["plan", store, "--app", app.path]).code == 20)
  }

  @Test("A damaged mapping model of a step that the store does not take is a note")
  func besides() throws {
    try cut(first + "/xcmapping.xml")
    let store = folder.file("Second.sqlite")
    let words = ["sample", ExampleFolder.models, "--version", "Library 2", "--rows", "20", "--output", store]
    #expect(try run(words).code == 0)
    let planned = try run(["plan", store, "--app", app.path, "--no-rehearsal"])
    #expect(
      planned.code == 0 && planned.error.contains("; not read: App/Mappings/Library1_to_Library2.xcmappingmodel"),
      "\(planned)")
  }

  @Test("A compiled mapping model that is cut off is told by what is left of it, or is taken for any step")
  func compiled() throws {
    try cut(user)
    let store = try folder.sample(rows: 50)
    let refused = try run(["plan", store, "--app", app.path])
    #expect(refused.code == 20 && refused.error.contains("Library 2 to Library 3 may need"), "\(refused)")
    let damage = "Library2_to_Library3_User.cdm: the property list is damaged: it is cut off, or its end is damaged"
    #expect(refused.error.contains(damage) && !refused.error.contains("remove:"), "\(refused)")
    let other = app.path + "/App/Mappings/Other.cdm"
    try FileManager.default.moveItem(atPath: user, toPath: other)
    try Data("bplist00".utf8).write(to: URL(fileURLWithPath: other))
    let unknown = try run(["plan", store, "--app", app.path, "--to", "Library 2"])
    #expect(unknown.code == 20 && unknown.error.contains("App/Mappings/Other.cdm: "), "\(unknown)")
  }

  @Test("A mapping file that is named for the step stands in for a damaged mapping model")
  func named() throws {
    try cut(first + "/xcmapping.xml")
    let store = try folder.sample(rows: 50)
    let written = ExampleFolder.root + "/Examples/Mappings/Library/Library1_to_Library2.yaml"
    let planned = try run([
      "plan", store, "--app", app.path, "--mappings", written, "--to", "Library 2", "--no-rehearsal",
    ])
    #expect(planned.code == 0 && planned.output.contains("Library 1 to Library 2, mapped"), "\(planned)")
  }

  @Test("app shows the step of a damaged mapping model as refused, and init names the file, so that plan refuses it")
  func shown() throws {
    try cut(first + "/xcmapping.xml")
    let map = try run(["app", app.path])
    let place = "App/Mappings/Library1_to_Library2.xcmappingmodel"
    let step =
      "  Library 1 to Library 2: refused, because a mapping model that may be for it cannot be read: \(place)\n"
    #expect(map.code == 0 && map.output.contains(step) && !map.output.contains("can be inferred"), "\(map)")
    #expect(map.output.contains("not read:\n  \(place): xcmapping.xml: the XML is damaged at line "), "\(map)")
    #expect(try run(["app", app.path, "--json"]).output.contains("\"way\" : \"unread\""))
    let file = folder.file("godwit.yaml")
    #expect(try run(["init", "--app", app.path, "--output", file]).code == 0)
    let text = try String(contentsOfFile: file, encoding: .utf8)
    #expect(
      text.contains("\(place)  # cannot be read: put a sound copy in its place, or take this line out"), "\(text)")
    let refused = try run(["plan", try folder.sample(rows: 20)])
    #expect(refused.code == 20 && refused.error.contains("\(first)/xcmapping.xml: the XML is damaged"), "\(refused)")
  }

  @Test("Of an archive, the command without a damaged mapping model unpacks it first", arguments: [true, false])
  func archive(namesTarget: Bool) throws {
    var files = try ApplicationFolder.compiled()
    let name = "Payload/App.app/Library1_to_Library2.cdm"
    files[name] = files[name].map { Array($0.prefix($0.count / 2)) }
    let path = folder.file("App.ipa")
    try ZipFile(files).write(to: path)
    let store = try folder.sample(rows: 50)
    let target = namesTarget ? ["--to", "Library 2"] : []
    let refused = try run(["plan", store, "--app", path] + target)
    #expect(refused.code == 20 && refused.error.contains("\(path): a mapping model that "), "\(refused)")
    #expect(refused.error.contains("\(name): the property list is damaged") && !refused.error.contains("godwit-app-"))
    let line = try advised(refused)
    #expect(line.hasPrefix("unzip -q \(path) -d \(path).unpacked && book-migration plan \(store)"), "\(line)")
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/unzip") else { return }
    let pasted = try folder.paste(line)
    #expect(pasted.code == 0, "\(pasted)")
  }

  @Test("A damaged model, or none, ends app as it ends plan and init, with what was looked for")
  func models() throws {
    let contents = app.path + "/App/Library.xcdatamodeld/Library 2.xcdatamodel/contents"
    try cut(contents)
    let store = try folder.sample(rows: 20)
    for words in [["app", app.path], ["init", "--app", app.path], ["plan", store, "--app", app.path]] {
      let ended = try run(words)
      let message =
        "\(app.path): no data model of this Xcode project can be read: App/Library.xcdatamodeld: Library "
        + "2.xcdatamodel/contents: the XML is damaged at line "
      #expect(ended.code == 20 && ended.error.contains(message) && !ended.error.contains("Domain"), "\(ended)")
      #expect(!ended.error.contains("--models"))
    }
    #expect(try run(["app", app.path]).output.contains("\nmapping models:\n"))
    let empty = folder.newPath("Empty")
    try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: true)
    for words in [["app", empty], ["init", "--app", empty], ["plan", store, "--app", empty]] {
      let ended = try run(words)
      let message =
        "no data model is in this folder: no .xcdatamodeld, .xcdatamodel, .momd or .mom, and no class with @Model. "
        + "Name the folder that has the application's sources, or its .app, .ipa or .xcarchive"
      #expect(ended.code == 20 && ended.output.isEmpty && ended.error.contains(message), "\(ended)")
    }
  }

  @Test("A current version that is not there is the same problem for app, init and plan, and plan names the command")
  func currentVersion() throws {
    let file = app.path + "/App/Library.xcdatamodeld/.xccurrentversion"
    let text = try String(contentsOfFile: file, encoding: .utf8)
    try text.replacing("Library 3", with: "Library 7").write(toFile: file, atomically: true, encoding: .utf8)
    let problem = "the current version Library 7 is not in the model"
    #expect(try run(["app", app.path]).output.contains("  problem: \(problem)\n"))
    #expect(try run(["models", app.path + "/App/Library.xcdatamodeld"]).output.contains("problem: \(problem)"))
    let drafted = try run(["init", "--app", app.path, "--output", folder.file("godwit.yaml")])
    #expect(drafted.code == 20 && drafted.error.contains("\(problem). Choose the current version"), "\(drafted)")
    #expect(!FileManager.default.fileExists(atPath: folder.file("godwit.yaml")))
    let store = try folder.sample(rows: 20)
    let refused = try run(["plan", store, "--app", app.path])
    #expect(refused.code == 20 && refused.error.contains(problem), "\(refused)")
    let line = try advised(refused)
    #expect(line.hasSuffix(" --to 'Library 3'"), "\(line)")
    #expect(try folder.paste(line).code == 0)
    try "current".write(toFile: file, atomically: true, encoding: .utf8)
    let damaged = try run(["app", app.path])
    let said = ".xccurrentversion: the file that names the current version is no property list. Choose the current"
    #expect(damaged.code == 20 && damaged.error.contains(said) && !damaged.error.contains("NSCocoa"), "\(damaged)")
  }
}
