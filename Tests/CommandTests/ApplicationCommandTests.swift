import Foundation
import Testing

@testable import SwiftDataModels

@Suite("Commands that take an application", .enabled(if: SourceParser.isThere, "built without SwiftData"))
struct ApplicationCommandTests {
  private let folder: CommandFolder
  private let app: ApplicationFolder

  init() throws {
    folder = try CommandFolder(readsSwift: true)
    app = try ApplicationFolder(in: folder)
  }

  @Test("app shows versions, steps, the mapping model of each step, and where the policies are")
  func map() throws {
    let found = try folder.run("godwit", ["app", app.path])
    #expect(found.code == 0 && found.error.isEmpty)
    #expect(
      found.output == """
        \(app.path): Xcode project, 2 models, 3 mapping models, 2 policies
        model App/Library.xcdatamodeld: 3 versions, current Library 3
          Library 1 to Library 2: App/Mappings/Library1_to_Library2.xcmappingmodel
              BookToBook needs the policy LibraryBookPolicy: App/Policies/BookPolicies.swift:4; this program does not have it, and it can be compiled
          Library 2 to Library 3: App/Mappings/Library2_to_Library3.xcmappingmodel, App/Mappings/Library2_to_Library3_User.cdm
              BookToBook needs the policy LibraryBookPolicy: App/Policies/BookPolicies.swift:4; this program does not have it, and it can be compiled
        model Trips: 3 versions, current 3.0.0
          1.0.0 to 2.0.0: can be inferred
          2.0.0 to 3.0.0: needs a mapping model
              its stage runs code of the application (\(app.path)/Trips/TripsPlan.swift:12), which SwiftData alone can do
        policies that no mapping model names:
          UserPolicy: App/Policies/BookPolicies.swift:12
        a program that has the policies:
          godwit policies build \(app.path)/App/Policies/BookPolicies.swift --output godwit-policies

        """)
    let own = try folder.run("book-migration", ["app", app.path])
    #expect(own.output.contains("BookPolicies.swift:4; this program has it"))
    let json = try folder.run("godwit", ["app", app.path, "--json"])
    let document = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
    #expect(
      (document?["models"] as? [[String: Any]])?.first?["versions"] as? [String] == [
        "Library 1", "Library 2", "Library 3",
      ])
  }

  @Test("A store is planned, migrated and verified with nothing but the application")
  func whole() throws {
    let store = try folder.sample(rows: 300)
    let planned = try folder.run("book-migration", ["plan", store, "--app", app.path])
    #expect(planned.code == 0)
    #expect(
      planned.error == """
        note: \(app.path) has 2 models, 3 mapping models and 2 policies; taken: App/Library.xcdatamodeld, whose version \
        Library 1 is the store's, with App/Mappings/Library1_to_Library2.xcmappingmodel, \
        App/Mappings/Library2_to_Library3.xcmappingmodel, App/Mappings/Library2_to_Library3_User.cdm

        """)
    let done = try folder.run("book-migration", ["migrate", "--app", app.path, store, "--progress", "none"])
    #expect(done.code == 0 && done.output.contains("version Library 3") && done.output.contains("File: "))
    #expect(try folder.run("godwit", ["verify", store, "--app", app.path]).code == 0)
    #expect(try folder.run("godwit", ["inspect", store, "--app", app.path]).output.contains("version      Library 3"))
  }

  @Test("A policy that this program lacks is refused with the place of its source")
  func missingPolicy() throws {
    let store = try folder.sample(rows: 50)
    let refused = try folder.run("godwit", ["migrate", store, "--app", app.path])
    #expect(refused.code == 20)
    #expect(refused.error.contains("the application has it in App/Policies/BookPolicies.swift:4"))
  }

  @Test("Rules for a missing policy begin with a whole command for a mapping model deep in a folder, too")
  func deepMappings() throws {
    let store = try folder.sample(rows: 50)
    let models = ["--models", app.path + "/App/Library.xcdatamodeld", "--mappings", app.path]
    let refused = try folder.run("godwit", ["plan", store] + models)
    let deep = "\(app.path)/App/Mappings/Library1_to_Library2.xcmappingmodel"
    let advice =
      "`godwit mapping convert \(deep) --models \(app.path)/App/Library.xcdatamodeld > Library1_to_Library2.yaml`"
    #expect(refused.code == 20 && refused.error.contains(advice), "\(refused)")
    let made = try folder.run("godwit", ["mapping", "convert", deep])
    #expect(made.code == 0 && made.output.contains("entities:"), "\(made)")
  }

  @Test("All policies that are missing are named with one command; what cannot be compiled is said, and in no command")
  func missingPolicies() throws {
    let source = app.path + "/App/Policies/Pictures.swift"
    try "import CoreData\nimport UIKit\n\nclass PicturePolicy: NSEntityMigrationPolicy {}\n"
      .write(toFile: source, atomically: true, encoding: .utf8)
    try ApplicationFolder.compile(
      into: app.path + "/App/Mappings", names: ["Library2_to_Library3_User"],
      policies: ["Library2_to_Library3_User": "PicturePolicy"])
    let store = try folder.sample(rows: 50)
    let refused = try folder.run("godwit", ["plan", store, "--app", app.path])
    #expect(refused.code == 20)
    for part in [
      "entity mappings need policies that are missing: BookToBook the policy LibraryBookPolicy, which the application has in "
        + "App/Policies/BookPolicies.swift:4; UserToUser the policy PicturePolicy, which the application has in "
        + "App/Policies/Pictures.swift:4; this program has none",
      "or make one with LibraryBookPolicy: `godwit policies build \(app.path)/App/Policies/BookPolicies.swift --output",
      "PicturePolicy cannot be compiled here: line 2 imports UIKit, which is not here",
      "`godwit mapping convert \(app.path)/App/Mappings/Library1_to_Library2.xcmappingmodel --app \(app.path) > "
        + "Library1_to_Library2.yaml` begins a file of them, to be named with --mappings; `godwit mapping convert ",
      "Library2_to_Library3.yaml` and `godwit mapping convert \(app.path)/App/Mappings/Library2_to_Library3_User.cdm --app "
        + "\(app.path) > Library2_to_Library3_User.yaml` begin files of them, to be named together",
    ] { #expect(refused.error.contains(part), "\(part): \(refused.error)") }
    let map = try folder.run("godwit", ["app", app.path])
    let state = "Pictures.swift:4; this program does not have it, and it cannot be compiled here: line 2 imports UIKit"
    #expect(map.output.contains(state) && !map.output.contains("build \(source)"), "\(map.output)")
  }

  @Test("A bundle belongs to the application that the project's file names, too")
  func bundleOfFile() throws {
    let store = try folder.sample(rows: 50)
    let file = folder.file("godwit.yaml")
    try "app: App\nbundle: Librar\n".write(toFile: file, atomically: true, encoding: .utf8)
    let wrong = try folder.run("book-migration", ["plan", store, "--no-rehearsal"])
    #expect(wrong.code == 20 && wrong.error.contains("did you mean Library?"), "\(wrong)")
    let named = try folder.run("book-migration", ["plan", store, "--no-rehearsal", "--bundle", "Library"])
    #expect(named.code == 0, "\(named)")
    try "".write(toFile: file, atomically: true, encoding: .utf8)
    let alone = try folder.run("book-migration", ["plan", store, "--bundle", "Library"])
    #expect(alone.code == 64 && alone.error.contains("--bundle belongs to --app"), "\(alone)")
    let empty = try folder.run("book-migration", ["plan", store])
    #expect(empty.code == 64 && empty.error.contains("The file \(file) has neither models nor app"), "\(empty)")
  }

  @Test("A mapping file that is named, or lies in the application, stands in for Xcode's of the same step")
  func standIn() throws {
    let written = ExampleFolder.root + "/Examples/Mappings/Library"
    let first = try folder.sample("First.sqlite", rows: 50)
    let named = try folder.run(
      "godwit", ["migrate", first, "--app", app.path, "--mappings", written, "--progress", "none"])
    #expect(
      named.code == 0 && named.error.contains("other mapping models stand in for App/Mappings/Library1_to_Library2"))
    for name in ["Library1_to_Library2", "Library2_to_Library3"] {
      try FileManager.default.copyItem(atPath: "\(written)/\(name).yaml", toPath: "\(app.path)/App/\(name).yaml")
    }
    let second = try folder.sample("Second.sqlite", rows: 50)
    let found = try folder.run("godwit", ["migrate", second, "--app", app.path, "--progress", "none"])
    #expect(
      found.code == 0 && found.error.contains("with App/Library1_to_Library2.yaml, App/Library2_to_Library3.yaml"))
    let map = try folder.run("godwit", ["app", app.path])
    #expect(map.output.contains("Library1_to_Library2.xcmappingmodel (not used, as another one stands in for it)"))
  }

  @Test("A mapping file of an application that names a server is not taken")
  func server() throws {
    let text = try String(
      contentsOfFile: ExampleFolder.root + "/Examples/Mappings/Library/Library2_to_Library3.yaml", encoding: .utf8)
    try ("destination: { postgres: postgres://somebody@example.invalid/db }\n" + text)
      .write(toFile: app.path + "/App/Server.yaml", atomically: true, encoding: .utf8)
    let store = try folder.sample(rows: 50)
    let planned = try folder.run("book-migration", ["plan", store, "--app", app.path, "--no-rehearsal"])
    #expect(planned.error.contains("not taken, because they name a server for the result: App/Server.yaml"))
    #expect(!planned.output.contains("example.invalid"))
  }

  @Test("Several models that fit, or none, are one error with whole commands, and those work")
  func choice() throws {
    let other = app.path + "/Old/Store.xcdatamodeld"
    try FileManager.default.createDirectory(atPath: app.path + "/Old", withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: ExampleFolder.models, toPath: other)
    try FileManager.default.removeItem(atPath: other + "/.xccurrentversion")
    let store = try folder.sample(rows: 50)
    let several = try folder.run("book-migration", ["plan", store, "--app", app.path, "--no-rehearsal"])
    #expect(
      several.code == 20
        && several.error.contains("the store fits 2 models: App/Library.xcdatamodeld, Old/Store.xcdatamodeld"))
    #expect(several.error.contains("`book-migration plan \(store) --app \(app.path) --no-rehearsal --bundle Library`"))
    let named = try folder.run(
      "book-migration", ["plan", store, "--app", app.path, "--no-rehearsal", "--bundle", "Library"])
    #expect(named.code == 0 && named.error.contains("taken: App/Library.xcdatamodeld, as it was named"))
    let none = try folder.run("godwit", ["plan", store, "--app", app.path + "/Trips"])
    let foreign = "no model of the folder fits the store \(store), and none has an entity in common with it"
    #expect(none.code == 20 && none.error.contains(foreign) && !none.error.contains("--bundle"), "\(none)")
    let unknown = try folder.run("godwit", ["plan", store, "--app", app.path, "--bundle", "Libary"])
    #expect(unknown.code == 20 && unknown.error.contains("no model is named Libary, did you mean Library?"))
  }

  @Test("What is no application is one error that says what to name")
  func noApplication() throws {
    let store = try folder.sample(rows: 20)
    let file = try folder.run("godwit", ["app", store])
    #expect(file.code == 20 && file.error.contains("this is no application. Name a folder with its sources"))
    let missing = try folder.run("godwit", ["app", folder.file("Ap")])
    #expect(missing.code == 64 && missing.error.contains("there is no such file, did you mean App?"))
    let empty = folder.newPath("Empty")
    try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: true)
    let nothing = try folder.run("godwit", ["plan", store, "--app", empty])
    #expect(nothing.code == 20 && nothing.error.contains("no data model is in this folder"))
    let both = try folder.run("godwit", ["plan", store, "--app", empty, "--models", ExampleFolder.models])
    #expect(both.code == 64 && both.error.contains("--models and --app exclude each other"))
  }

  @Test("A model that cannot be read is said, and the others are used")
  func damaged() throws {
    let broken = app.path + "/App/Broken.xcdatamodeld/One.xcdatamodel"
    try FileManager.default.createDirectory(atPath: broken, withIntermediateDirectories: true)
    try "<model".write(toFile: broken + "/contents", atomically: true, encoding: .utf8)
    let store = try folder.sample(rows: 20)
    let planned = try folder.run("book-migration", ["plan", store, "--app", app.path, "--no-rehearsal"])
    #expect(planned.code == 0 && planned.error.contains("; not read: App/Broken.xcdatamodeld"))
    let map = try folder.run("godwit", ["app", app.path])
    #expect(map.output.contains("not read:\n  App/Broken.xcdatamodeld: ") && map.output.contains("the XML is damaged"))
  }

  @Test("The command that builds the policies names files that are there, also where the Xcode project was named")
  func project() throws {
    let source = app.path + "/App/Policies/BookPolicies.swift"
    for name in ["App.xcodeproj", "App.xcodeproj/"] {
      let map = try folder.run("godwit", ["app", "\(app.path)/\(name)"])
      #expect(map.output.contains("\n  godwit policies build \(source) --output godwit-policies\n"), "\(map)")
    }
    let inside = try folder.run("godwit", ["app", "App.xcodeproj"], launcher: ["/usr/bin/env", "-C", app.path])
    #expect(inside.output.contains("godwit policies build ./App/Policies/BookPolicies.swift "), "\(inside)")
  }
}
