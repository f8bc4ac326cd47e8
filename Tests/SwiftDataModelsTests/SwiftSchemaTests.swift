import Testing

@testable import SwiftDataModels

@Suite("Versions and plans are read in their order", .enabled(if: SourceParser.isThere, "built without SwiftData"))
struct SwiftSchemaTests {
  private static let versions = """
    enum V10: VersionedSchema {
      static let versionIdentifier = Schema.Version(10, 0, 0)
      static var models: [any PersistentModel.Type] { V2.models + [Extra.self] }
      @Model class Extra { var n: Int }
    }
    enum V2: VersionedSchema {
      static var versionIdentifier: Schema.Version { .init(2, 0, 0) }
      static var models: [any PersistentModel.Type] = [Trip.self]
    }
    extension V2 { @Model final class Trip { var name: String; var days: Int? } }
    struct V1: VersionedSchema {
      static var versionIdentifier: Schema.Version { return Schema.Version(1, 0, 0) }
      static var models: [any PersistentModel.Type] { get { [Self.Trip.self] } }
      @Model final class Trip { var name: String }
    }
    typealias Trip = V2.Trip
    """

  @Test("Without a plan by their numbers, with equal class names")
  func numbers() throws {
    let found = try SwiftText(Self.versions.replacing("Self.Trip.self", with: "V1.Trip.self")).schema()
    #expect(found.versions.map(\.name) == ["1.0.0", "2.0.0", "10.0.0"])
    #expect(found.versions.map(\.versionIdentifiers) == [["1.0.0"], ["2.0.0"], ["10.0.0"]])
    #expect(found.versions.map { $0.entities.map(\.name) } == [["Trip"], ["Trip"], ["Extra", "Trip"]])
    #expect(found.versions[0].versionHashes["Trip"] != found.versions[1].versionHashes["Trip"])
    #expect(found.plan == nil)
  }

  @Test("With a plan as it lists them; stages have their versions, and whether only SwiftData can run them")
  func plan() throws {
    let plan = """

      enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V2.self, V1.self] }
        static var stages: [MigrationStage] { [first, .lightweight(fromVersion: V1.self, toVersion: V10.self)] + more }
        static let first = MigrationStage.custom(
          fromVersion: V2.self, toVersion: V1.self, willMigrate: nil, didMigrate: nil)
        static let more = [MigrationStage.custom(fromVersion: V1.self, toVersion: V2.self, willMigrate: nil) { context in
          try context.save()
        }]
      }
      """
    let text = Self.versions.replacing("Self.Trip.self", with: "V1.Trip.self") + plan
    let found = try SwiftText(text).schema()
    #expect(found.versions.map(\.name) == ["2.0.0", "1.0.0", "10.0.0"])
    let stages = try #require(try found.plan?.stages.get())
    #expect(
      stages.map { "\($0.from) \($0.to) \($0.hasCode)" } == [
        "2.0.0 1.0.0 false", "1.0.0 10.0.0 false", "1.0.0 2.0.0 true",
      ])
    #expect(found.plan?.name == "Plan" && stages[0].place.description == "Models.swift:20")
    let broken = try SwiftText(text.replacing("[first,", with: "make() + [")).schema()
    #expect(throws: (any Error).self) { try broken.plan?.stages.get() }
  }

  @Test("Without versions the schema is the list that has all classes of the others, or all classes")
  func unversioned() throws {
    let classes = "@Model class A { var n: Int }\n@Model class B { var n: Int }\n@Model class C { var n: Int }\n"
    func names(_ rest: String) throws -> [String] { try SwiftText(classes + rest).model().entities.map(\.name) }
    #expect(try names("") == ["A", "B", "C"])
    #expect(
      try names("let a = Schema([A.self])\nlet b = Schema([A.self, B.self], version: Schema.Version(1, 2, 3))") == [
        "A", "B",
      ])
    #expect(
      try names("func f() throws { let c = try ModelContainer(for: A.self, B.self, configurations: x) }") == ["A", "B"])
    #expect(try names("var x: some Scene { WindowGroup {}.modelContainer(for: [C.self, A.self]) }") == ["A", "C"])
    #expect(try names("var x: some View { Text(\"\").modelContainer(for: B.self, inMemory: true) }") == ["B"])
    #expect(
      try names("enum All { static let models: [any PersistentModel.Type] = [C.self] }\nlet s = Schema(All.models)")
        == ["C"])
    let version = try SwiftText(classes + "let b = Schema([A.self], version: Schema.Version(1, 2, 3))").model()
    #expect(version.versionIdentifiers == ["1.2.3"])
    #expect(
      SwiftText(classes + "let a = Schema([A.self])\nlet b = Schema([B.self])").problem?.contains(
        "two schemas are here, and none has all classes of the other") == true)
    #expect(
      SwiftText(classes + "func f(_ t: [any PersistentModel.Type]) { _ = Schema(t) }").problem?.contains(
        "Models.swift:4: the classes of the schema are not written here") == true)
    #expect(
      try names(
        "enum All { static var more: [any PersistentModel.Type] { [C.self] } }\nlet s = Schema([A.self] + All.more)")
        == ["A", "C"])
  }

  @Test("#if is decided by -D; what nobody decides is refused only where it matters")
  func conditions() throws {
    let text = """
      @Model class A {
        var a: Int
        #if BETA && !OLD
        var b: Int
        #elseif os(iOS) || os(macOS)
        var c: Int
        #else
        var d: Int
        #endif
      }
      #if canImport(UIKit)
      struct View { var x: Bird }
      #endif
      """
    func names(_ flags: [String]) throws -> [String] {
      try SwiftText(text, flags: flags).entity("A").attributes.map(\.name)
    }
    #expect(try names(["BETA"]) == ["a", "b"])
    #expect(try names(["os(iOS)"]) == ["a", "c"])
    #expect(try names(["os( Linux )"]) == ["a", "d"])
    #expect(try names(["BETA", "OLD", "os(macOS)"]) == ["a", "c"])
    let problem = try #require(SwiftText(text).problem)
    #expect(
      problem.contains("Models.swift:6: A.c depends on #if os(iOS) || os(macOS), which is not decided"), "\(problem)")
  }

  @Test(
    "Schemas that contradict themselves are refused",
    arguments: [
      ("enum V: VersionedSchema { static var models: [any PersistentModel.Type] { [] } }", "has no versionIdentifier"),
      (
        "enum V: VersionedSchema { static let versionIdentifier = make()\nstatic var models: [X] { [] } }",
        "Models.swift:1: the versionIdentifier of V is no Schema.Version(1, 0, 0)"
      ),
      (
        "enum V: VersionedSchema { static let versionIdentifier = Schema.Version(1, 0, 0)\nstatic var models: [X] { all() } }",
        "the models of V cannot be read"
      ),
      (
        "enum V: VersionedSchema { static let versionIdentifier = Schema.Version(1, 0, 0)\nstatic var models: [X] { [B.self] } }",
        "Models.swift:2: the class B is not declared in these sources"
      ),
      (
        "enum V: VersionedSchema { static let versionIdentifier = Schema.Version(1, 0, 0)\nstatic var models: [X] { [B.self] } }\nstruct B {}",
        "Models.swift:2: B (Models.swift:3) is no class with @Model"
      ),
      (
        """
        enum V: VersionedSchema { static let versionIdentifier = Schema.Version(1, 0, 0); static var models: [X] { [] } }
        enum W: VersionedSchema { static let versionIdentifier = Schema.Version(1, 0, 0); static var models: [X] { [] } }
        """, "Models.swift:2: W has the versionIdentifier 1.0.0 of V (Models.swift:1)"
      ),
    ])
  func refused(_ text: String, _ wanted: String) throws {
    let problem = try #require(SwiftText(text).problem)
    #expect(problem.contains(wanted), "\(problem)")
  }
}
