import Foundation
import Testing

@testable import MappingModels
@testable import MigrationJobs

@Suite("godwit mapping")
struct MappingCommandTests {
  private let folder: CommandFolder

  init() throws { folder = try CommandFolder() }

  private func write(_ text: String, _ name: String) throws -> String {
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder.file(name)))
    return folder.file(name)
  }

  @Test("What init prints passes check, and plain godwit migrates with it")
  func initiated() throws {
    let versions = ["Library 1", "Library 2"].map { "\(ExampleFolder.models):\($0)" }
    let made = try folder.run("godwit", ["mapping", "init"] + versions)
    #expect(made.code == 0 && made.output.contains("- to: Author"))
    let mapping = try write(made.output, "Mine.yaml")
    let checked = try folder.run("godwit", ["mapping", "check", mapping, "--models", ExampleFolder.models])
    #expect(checked.code == 0 && checked.output == "Mine: 3 entity mappings, Library 1 to Library 2\n")
    let store = try folder.sample(rows: 500)
    let arguments = ["--models", ExampleFolder.models, "--mappings", mapping, "--to", "Library 2"]
    let outcome = try folder.run("godwit", ["migrate", store] + arguments)
    #expect(outcome.code == 0 && outcome.output.contains("version Library 2") && outcome.error.isEmpty)
  }

  @Test("A mapping model of Xcode is translated, and the translation passes check")
  func converted() throws {
    let name = "Library1_to_Library2"
    let made = try folder.run("godwit", ["mapping", "convert", "\(ExampleFolder.mappings)/\(name).xcmappingmodel"])
    let mapping = try write(made.output, name + ".yaml")
    #expect(
      try MappingModelReader.read(path: mapping)
        == MappingModelReader.read(path: "\(ExampleFolder.mappings)/\(name).xcmappingmodel"))
    #expect(try folder.run("godwit", ["mapping", "check", mapping, "--models", ExampleFolder.models]).code == 0)
  }

  @Test("A file that does not fit is refused with its line, or with the name that the versions do not have")
  func refused() throws {
    let broken = try write("from: Library 1\nto: Library 2\nentitys: []\n", "Broken.yaml")
    let unread = try folder.run("godwit", ["mapping", "check", broken])
    #expect(
      unread.code == 20
        && unread.error.contains("Broken.yaml: line 3: the file has no key entitys, did you mean entities?"))
    let text =
      "from: Library 1\nto: Library 2\nothers: true\nentities: [{ from: Book, attributes: { titel: $source.title } }]\n"
    let unfit = try folder.run(
      "godwit", ["mapping", "check", try write(text, "Unfit.yaml"), "--models", ExampleFolder.models])
    #expect(unfit.code == 20 && unfit.error.contains("BookToBook: Book has no attribute titel, did you mean title?"))
  }

  @Test("A migration by mapping files that is killed goes on without them, to the same bytes")
  func killed() throws {
    let (whole, store) = (try folder.sample("Whole.sqlite", rows: 4000), try folder.sample(rows: 4000))
    let mappings = folder.newPath("mappings")
    try FileManager.default.copyItem(atPath: ExampleFolder.root + "/Examples/Mappings/Library", toPath: mappings)
    let arguments = ["--models", ExampleFolder.models, "--mappings", mappings, "--checkpoint-every", "20kB"]
    #expect(try folder.run("godwit", ["migrate", whole] + arguments).code == 0)
    let job = try JobDirectory(destination: store)
    let process = try CommandProcess("godwit", ["migrate", store] + arguments, in: folder)
    while process.isRunning, CommandFolder.checkpoints(job.path).count < 2 { usleep(2000) }
    process.send(SIGKILL)
    #expect(try process.wait().code == 128 + SIGKILL)
    try FileManager.default.removeItem(atPath: mappings)
    #expect(try folder.run("godwit", ["resume", store]).code == 0)
    #expect(try CommandFolder.bytes(store) == CommandFolder.bytes(whole))
  }
}
