import Foundation
import Testing

@testable import Applications
@testable import BatchCommand
@testable import MappingModels
@testable import Migrations
@testable import RunSupport

@Suite("What commands advise about an application leads on")
struct ApplicationAdviceTests {
  private let folder: CommandFolder
  private let app: ApplicationFolder

  init() throws {
    folder = try CommandFolder()
    app = try ApplicationFolder(in: folder, hasSwiftData: false)
  }

  /// The commands between backticks that begin so.
  private func advised(_ outcome: CommandProcess.Outcome, _ beginning: String) -> [String] {
    outcome.error.split(separator: "`").filter { $0.hasPrefix(beginning) }.map(String.init)
  }

  @Test("Rules for a policy of an archive begin with its path in the archive, which mapping convert takes")
  func archive() throws {
    let path = folder.file("App.ipa")
    try ZipFile(ApplicationFolder.compiled()).write(to: path)
    let store = try folder.sample(rows: 50)
    let refused = try folder.run("godwit", ["plan", store, "--app", path, "--to", "Library 2"])
    #expect(refused.code == 20 && !refused.error.contains("godwit-app-"), "\(refused)")
    let lines = advised(refused, "godwit mapping convert ")
    let place = "Payload/App.app/Library1_to_Library2.cdm"
    #expect(lines == ["godwit mapping convert \(place) --app \(path) > Library1_to_Library2.yaml"], "\(refused)")
    let pasted = try folder.paste("cd \(folder.path) && \(lines.first ?? "")")
    #expect(pasted.code == 0, "\(pasted)")
    let text = try String(contentsOfFile: folder.file("Library1_to_Library2.yaml"), encoding: .utf8)
    #expect(text.contains("LibraryBookPolicy is code. Rules stand for it") && text.contains("findOrCreate: Author"))
    let wrong = try folder.run(
      "godwit", ["mapping", "convert", "Payload/App.app/Library1_to_Library.cdm", "--app", path])
    #expect(wrong.code == 64 && wrong.error.contains("did you mean \(place)?"), "\(wrong)")
    #expect(wrong.error.contains("`godwit app \(path)` lists them"), "\(wrong)")
  }

  @Test("Rules for a policy begin with all mapping models of its step, and the files make the step together")
  func partners() throws {
    let store = try folder.sample(rows: 50)
    let refused = try folder.run("godwit", ["plan", store, "--app", app.path])
    let lines = advised(refused, "godwit mapping convert ")
    #expect(lines.count == 3 && lines.allSatisfy { $0.contains(" --app \(app.path) > ") }, "\(refused)")
    for line in lines { #expect(try folder.paste("cd \(folder.path) && \(line)").code == 0, "\(line)") }
    let files = ["Library1_to_Library2", "Library2_to_Library3", "Library2_to_Library3_User"].map {
      folder.file("\($0).yaml")
    }
    let arguments = ["plan", store, "--app", app.path, "--no-rehearsal", "--mappings"]
    let whole = try folder.run("book-migration", arguments + files)
    #expect(whole.code == 0, "\(whole)")
    let rest = try folder.run("godwit", arguments + files)
    #expect(rest.code == 20 && rest.error.contains("put them into \(files[0])"), "\(rest)")
    let fewer = try folder.run("book-migration", arguments + files.dropLast())
    #expect(
      fewer.code == 20 && fewer.error.contains("does not name User: if another mapping model of the step has it, name"),
      "\(fewer)")
    let line = try #require(advised(fewer, "book-migration plan ").first, "\(fewer)")
    #expect(line.contains("Library2_to_Library3_User.") && !fewer.error.contains("Supply a mapping model"))
    #expect(try folder.paste(line).code == 0, "\(line)")
  }

  @Test("Of a mapping model that shares its step with another one, check and plan name that one")
  func beside() throws {
    let mapping = ExampleFolder.mappings + "/Library2_to_Library3_User.xcmappingmodel"
    let models = ["--models", ExampleFolder.models]
    let checked = try folder.run("godwit", ["mapping", "check", mapping] + models)
    #expect(checked.code == 20 && checked.error.contains("does not name Author, Book: if another"), "\(checked)")
    let both = try #require(advised(checked, "godwit mapping check ").first, "\(checked)")
    #expect(both.contains("/Library2_to_Library3.xcmappingmodel"))
    #expect(try folder.paste(both).code == 0, "\(both)")
  }

  @Test("Mapping models of one name are told apart by their paths")
  func twice() throws {
    let other = app.path + "/Old"
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
    let name = "Library1_to_Library2"
    let contents = "\(name).xcmappingmodel/xcmapping.xml"
    try FileManager.default.copyItem(
      atPath: "\(app.path)/App/Mappings/\(name).xcmappingmodel", toPath: "\(other)/\(name).xcmappingmodel")
    let text = try String(contentsOfFile: "\(other)/\(contents)", encoding: .utf8)
    try text.replacing("LibraryBookPolicy", with: "OtherPolicy")
      .write(toFile: "\(other)/\(contents)", atomically: true, encoding: .utf8)
    let models = ["--models", app.path + "/App/Library.xcdatamodeld"]
    let paths = [app.path + "/App/Mappings/\(name).xcmappingmodel", "\(other)/\(name).xcmappingmodel"]
    let both = "the mapping models \(paths[0]) and \(paths[1]) both have "
    let checked = try folder.run("godwit", ["mapping", "check"] + paths + models)
    #expect(checked.code == 20 && checked.error.contains(both), "\(checked)")
    let store = try folder.sample(rows: 20)
    let planned = try folder.run("book-migration", ["plan", store, "--mappings", app.path, "--no-rehearsal"] + models)
    #expect(planned.code == 20 && planned.error.contains(both), "\(planned)")
    let line = try #require(advised(planned, "book-migration plan ").first, "\(planned)")
    #expect(planned.error.contains("Name one of them: `") && !line.contains(paths[1]), "\(planned)")
    #expect(try folder.paste(line).code == 0, "\(line)")
  }

  @Test("A run that waits for a policy is sent to no command with a placeholder")
  func resume() throws {
    let store = try folder.sample(rows: 6000)
    _ = try folder.interrupted(store)
    let refused = try folder.run("godwit", ["resume", store])
    #expect(refused.code == 20 && refused.error.contains("LibraryBookPolicy"), "\(refused)")
    #expect(!refused.error.contains("RULES") && !refused.error.contains("mapping convert"), "\(refused)")
  }

  @Test("A policy for Godwit's own protocol is found by its name, and said to be for a program of one's own")
  func ownPolicy() throws {
    let source = app.path + "/App/Policies/BookPolicies.swift"
    let text = """
      import Batch

      struct BooksOfTheLibrary: EntityMigrationPolicy {
        static let className = "LibraryBookPolicy"
      }
      struct OtherPolicy: Sendable, EntityMigrationPolicy {}

      """
    try text.write(toFile: source, atomically: true, encoding: .utf8)
    let map = try folder.run("godwit", ["app", app.path])
    let state =
      "LibraryBookPolicy: App/Policies/BookPolicies.swift:3; this program does not have it, and it cannot be compiled here: "
      + "it is written for Godwit itself, and a program of your own registers it, by GodwitCommand.main(policies: "
      + "[BooksOfTheLibrary.self]): docs/manual/policies.md\n"
    #expect(map.output.contains("3 mapping models, 1 policy\n") && map.output.contains(state), "\(map)")
    #expect(!map.output.contains("OtherPolicy") && !map.output.contains("policies build"), "\(map)")
    let own = try folder.run("book-migration", ["app", app.path])
    #expect(own.output.contains("BookPolicies.swift:3; this program has it"), "\(own)")
    let refused = try folder.run("godwit", ["plan", try folder.sample(rows: 20), "--app", app.path])
    #expect(refused.code == 20 && refused.error.contains("it is written for Godwit itself"), "\(refused)")
    #expect(try folder.run("godwit", ["init", "--app", app.path, "--output", folder.file("godwit.yaml")]).code == 0)
    let draft = try String(contentsOfFile: folder.file("godwit.yaml"), encoding: .utf8)
    #expect(
      draft.contains("not in this program; it cannot be compiled here: it is written for Godwit itself"), "\(draft)")
  }

  @Test("A program that reads no Swift advises one that does, in one command")
  func builder() throws {
    let builder = ["swift", "run", "-c", "release", "--package-path", "/src/godwit", "godwit"]
    let application = try Application(path: app.path)
    let text = ApplicationText(
      ApplicationMap(application, known: []), folder: application.folder, builder: builder
    ).text
    let source = app.path + "/App/Policies/BookPolicies.swift"
    let command =
      "swift run -c release --package-path /src/godwit godwit policies build \(source) --output godwit-policies"
    #expect(text.contains("this one was built without the trait SwiftData, and compiles none"), "\(text)")
    #expect(text.contains("\n  \(command)"), "\(text)")
    var registry = PolicyRegistry()
    registry.builder = builder
    registry.sources["BookPolicy"] = .init(place: "BookPolicy.swift:1", path: source, obstacle: nil)
    var mapping = EntityMapping(sourceEntity: "Book", destinationEntity: "Book")
    mapping.policyClassName = "BookPolicy"
    let error = #expect(throws: BatchError.self) {
      try registry.require([[MappingModel(name: "M", entityMappings: [mapping])]])
    }
    #expect(error?.hint?.contains("make one: `\(command)`") == true, "\(error?.hint ?? "")")
  }
}

@Suite("The version that is nearest to a store")
struct NearestVersionTests {
  private static let odd = #"<attribute name="odd" optional="YES" attributeType="String"/>"#
  private static let extra = #"<attribute name="extra" optional="YES" attributeType="Integer 32"/>"#

  private static func entity(_ name: String, _ attributes: String, renaming: String = "") -> String {
    let identifier = renaming.isEmpty ? "" : #" elementID="\#(renaming)""#
    return
      #"<entity name="\#(name)" representedClassName="\#(name)" syncable="YES"\#(identifier)>\#(attributes)</entity>"#
  }

  @Test(
    "plan, its advice and identify name the same one; a store whose entities had other names is no other application's")
  func nearest() throws {
    let name = FindingFolder.name
    let folder = try FindingFolder(entities: [
      Self.entity("A", name), Self.entity("A", name + Self.extra), Self.entity("B", name + Self.extra, renaming: "A"),
    ])
    let (other, store) = try FindingFolder.entities([Self.entity("A", name + Self.odd)], rows: 40)
    defer { withExtendedLifetime(other) {} }
    let planned = try folder.run(["plan", store, "--app", folder.models])
    #expect(planned.code == 20 && planned.error.contains(", nearest V1. "), "\(planned)")
    let words = try #require(FindingFolder.advice(planned), "\(planned)")
    let named = try folder.run(words)
    #expect(named.code == 20 && !named.error.contains("another application"), "\(named)")
    #expect(named.error.contains("the nearest version is V1"), "\(named)")
    let identified = try folder.run(["identify", store, "--models", folder.models])
    #expect(identified.output.contains("nearest   V1 of "), "\(identified)")
  }
}
