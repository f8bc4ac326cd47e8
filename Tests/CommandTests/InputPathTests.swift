import Foundation
import Testing

@Suite("No output of a command is written over what the command reads", .serialized)
struct InputPathTests {
  private let folder: CommandFolder
  private let store: String

  init() throws {
    folder = try CommandFolder()
    store = try folder.sample(rows: 30)
  }

  private func copy(_ source: String, _ name: String) throws -> String {
    let path = folder.file(name)
    try FileManager.default.copyItem(atPath: source, toPath: path)
    return path
  }

  /// The first mapping model of the example as a file.
  private func mappingFile() throws -> String {
    let (path, model) = (folder.file("Library.yaml"), ExampleFolder.mappings + "/Library1_to_Library2.xcmappingmodel")
    let made = try folder.run("book-migration", ["mapping", "convert", model, "--models", ExampleFolder.models])
    try made.output.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  private func expectRefused(_ words: [String], _ option: String, keeping path: String) throws {
    let before = try CommandFolder.bytes(path)
    let outcome = try folder.run("book-migration", words)
    #expect(outcome.code == 20, "\(words): \(outcome)")
    #expect(outcome.error.contains("\(option) would write over what the command reads"), "\(words): \(outcome)")
    #expect(try CommandFolder.bytes(path) == before, "\(words)")
  }

  @Test("A list, a model, a mapping file and godwit.yaml are safe from --metrics, --log-file and --html")
  func everyInput() throws {
    let models = try copy(ExampleFolder.models, "Library.xcdatamodeld")
    let mapping = try mappingFile()
    let (list, page) = (folder.file("stores.txt"), folder.file("list.html"))
    for path in [list, page] { try store.write(toFile: path, atomically: true, encoding: .utf8) }
    let content = models + "/Library 1.xcdatamodel/contents"
    let named = ["--models", models]
    for option in ["--metrics", "--log-file"] {
      try expectRefused(["migrate", "--manifest", list, option, list] + named, option, keeping: list)
      try expectRefused(["migrate", "--manifest=\(list)", "\(option)=\(list)"] + named, option, keeping: list)
      try expectRefused(["migrate", store, option, content] + named, option, keeping: content)
      let mapped = ["migrate", store, option, mapping, "--mappings", mapping] + named
      try expectRefused(mapped, option, keeping: mapping)
      // The folder is named, and the file is read all the same.
      let inFolder = ["migrate", store, option, mapping, "--mappings", folder.path] + named
      try expectRefused(inFolder, option, keeping: mapping)
    }
    try expectRefused(["report", "--manifest", page, "--html", page], "--html", keeping: page)
    let link = folder.file("link.prom")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: list)
    try expectRefused(["resume", "--manifest", list, "--metrics", link], "--metrics", keeping: list)
    let project = folder.file("godwit.yaml")
    try "models: [Library.xcdatamodeld]\n".write(toFile: project, atomically: true, encoding: .utf8)
    try expectRefused(["migrate", store, "--log-file", project], "--log-file", keeping: project)
  }

  @Test("A run that is resumed keeps what it was begun with from its outputs, too")
  func resumed() throws {
    let mapping = try mappingFile()
    let long = try folder.sample("Long.sqlite", rows: 6000)
    let words = ["--models", ExampleFolder.models, "--mappings", mapping, "--to", "Library 2", "--max-runtime", "1s"]
    let stopped = try folder.run("book-migration", ["migrate", long, "--throttle", "2krows/s"] + words)
    #expect(stopped.code == 75, "\(stopped)")
    try expectRefused(["resume", long, "--log-file", mapping], "--log-file", keeping: mapping)
    #expect(try folder.run("book-migration", ["resume", long, "--quiet"]).code == 0)
  }

  @Test("Files of the night before are written again, also in a folder that the command reads")
  func again() throws {
    let (log, metrics) = (folder.file("night.log"), folder.file("night.prom"))
    let words = ["migrate", store, "--log-file", log, "--metrics", metrics, "--mappings", ExampleFolder.mappings]
    let models = ["--models", folder.path + "/Library.xcdatamodeld"]
    _ = try copy(ExampleFolder.models, "Library.xcdatamodeld")
    for _ in 0..<2 { #expect(try folder.run("book-migration", words + models).code == 0) }
  }
}
