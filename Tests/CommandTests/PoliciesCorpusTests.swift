import Foundation
import Testing

@testable import SwiftDataModels

/// The policies of real applications, as they are, on a store of entities as theirs.
@Suite("Policies of real applications, compiled", .enabled(if: SourceParser.isThere, "built without SwiftData"))
struct PoliciesCorpusTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let policies =
    (environment["GODWIT_CORPUS"] ?? ExampleFolder.root + "/../shared/corpus") + "/policies"
  private static let isAsked = environment["GODWIT_BUILDS"] != nil && FileManager.default.fileExists(atPath: policies)
  private let folder: CommandFolder

  init() throws {
    folder = try CommandFolder(readsSwift: true)
    try write(
      [
        "Car": Self.text("maker") + Self.number, "Post": Self.text("hexColor") + Self.number,
        "Input": Self.text("identifier") + Self.number,
      ], to: "App")
    try write(
      [
        "Car": Self.number + Self.link("maker", "Maker", "cars"), "Input": Self.text("identifier") + Self.number,
        "Maker": Self.text("name") + Self.link("cars", "Car", "maker", isMany: true),
        "Post": Self.number + Self.link("color", "Color", "post"),
        "Color": Self.text("colorID") + Self.text("hex") + Self.link("post", "Post", "color"),
      ], to: "App 2")
  }

  private static let number = "<attribute name=\"number\" optional=\"YES\" attributeType=\"Integer 64\"/>"

  private static func text(_ name: String) -> String {
    """
    <attribute name="\(name)" optional="YES" attributeType="String"><userInfo>
    <entry key="godwit.sample.distinct" value="9"/><entry key="godwit.sample.edges" value="never"/></userInfo></attribute>
    """
  }

  private static func link(_ name: String, _ entity: String, _ inverse: String, isMany: Bool = false) -> String {
    """
    <relationship name="\(name)" optional="YES" \(isMany ? "toMany=\"YES\"" : "maxCount=\"1\"") \
    destinationEntity="\(entity)" inverseName="\(inverse)" inverseEntity="\(entity)"/>
    """
  }

  private func write(_ entities: [String: String], to version: String) throws {
    let path = folder.file("App.xcdatamodeld/\(version).xcdatamodel")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let body = entities.sorted { $0.key < $1.key }.map { "<entity name=\"\($0.key)\">\($0.value)</entity>" }.joined()
    let text = "<?xml version=\"1.0\"?><model type=\"com.apple.IDECoreDataModeler.DataModel\">\(body)</model>"
    try text.write(toFile: path + "/contents", atomically: true, encoding: .utf8)
  }

  private static let asTheyAre = """
    from: App
    to: App 2
    entities:
      - to: Maker
      - to: Color
      - from: Car
        policy: CoreDataPlus.V2to3MakerPolicy
      - from: Post
        policy: CoreDataMigration_Example.Post2ToPost3MigrationPolicy
      - from: Input
        policy: GameControllerInputMappingMigrationPolicy
        attributes:
          number: $same
          identifier: FUNCTION($entityPolicy, "migrateIdentifier")

    """
  private static let byHand = """
    from: App
    to: App 2
    entities:
      - to: Maker
      - to: Color
      - from: Car
        objects:
          - findOrCreate: Maker
            by: { name: $source.maker }
            link: maker
      - from: Post
        objects:
          - create: Color
            attributes: { hex: $source.hexColor }
            link: color
      - from: Input
        attributes:
          number: $same
          identifier: { value: other }

    """

  private func migrate(_ program: String, _ store: String, _ mapping: String) throws -> String {
    let (file, output) = (folder.file("\(mapping.count).yaml"), folder.file("\(mapping.count).sqlite"))
    try mapping.write(toFile: file, atomically: true, encoding: .utf8)
    let words = ["migrate", store, "--models", folder.file("App.xcdatamodeld"), "--to", "App 2", "--mappings", file]
    let done = try folder.run(program, words + ["--output", output, "--quiet"])
    #expect(done.code == 0, "\(done.error)")
    return output
  }

  private func rows(_ store: String, _ sql: String) throws -> [String] { try ExampleFolder.rows(store, sql) }

  @Test("They compile, run and give what is written by hand", .enabled(if: isAsked, "GODWIT_BUILDS, and the corpus"))
  func whole() throws {
    let program = folder.file("godwit-policies")
    let built = try folder.run(
      "godwit",
      [
        "policies", "build", Self.policies, "--output", program, "--debug", "--build-folder",
        ExampleFolder.root + "/.build/policies",
      ])
    #expect(built.code == 0, "\(built.error)")
    #expect(built.output.contains("SaveStateMigrationPolicy.swift:9: imports UIKit, which is not here"))
    let store = folder.file("App.sqlite")
    let words = ["--version", "App", "--rows", "600", "--seed", "3", "--output", store]
    #expect(try folder.run("godwit", ["sample", folder.file("App.xcdatamodeld")] + words).code == 0)
    let (own, hand) = (try migrate(program, store, Self.asTheyAre), try migrate("godwit", store, Self.byHand))
    for sql in [
      "SELECT Z_PK, ZNUMBER, ZMAKER FROM ZCAR ORDER BY 1", "SELECT Z_PK, ZNAME FROM ZMAKER ORDER BY 1",
      "SELECT Z_PK, ZNUMBER, ZCOLOR FROM ZPOST ORDER BY 1", "SELECT Z_PK, ZHEX, ZPOST FROM ZCOLOR ORDER BY 1",
      "SELECT Z_PK, ZNUMBER FROM ZINPUT ORDER BY 1",
    ] {
      let found = try rows(own, sql)
      #expect(try found == rows(hand, sql) && !found.isEmpty)
    }
    for column in ["ZCOLORID FROM ZCOLOR", "ZIDENTIFIER FROM ZINPUT"] {
      let texts = try rows(own, "SELECT \(column)")
      #expect(Set(texts).count == texts.count && texts.allSatisfy { $0.count >= 36 })
    }
  }
}
