import Foundation

@testable import CoreDataModel
@testable import Migrations

/// A folder with a model of every shape, an SQLite store of its first version, and an XML store with the same objects.
final class XMLStoreFolder {
  let folder: CommandFolder
  let models: String
  let writer: XMLStoreWriter
  var arguments: [String] { ["--models", models] }
  var sqlite: String { folder.file("Same.sqlite") }
  var xml: String { folder.file("Shapes.xml") }

  init(rows: Int, seed: Int = 1) throws {
    folder = try CommandFolder()
    models = folder.newPath("Shapes.xcdatamodeld")
    try Self.version(models, "Shapes 1", Self.attributes)
    try Self.version(
      models, "Shapes 2", Self.attributes.replacing("name=\"aText\"", with: "name=\"title\" elementID=\"aText\""))
    writer = XMLStoreWriter(model: try ModelLibrary(paths: [models]).target(named: "Shapes 1"))
    let sample = folder.newPath("Sample.sqlite")
    _ = try godwit(
      ["sample", models, "--version", "Shapes 1", "--rows", "\(rows)", "--seed", "\(seed)", "--output", sample])
    let objects = try writer.objects(export(sample))
    try write(writer.text(objects), to: xml)
    let lines = folder.newPath("lines.jsonl")
    try write(writer.lines(objects), to: lines)
    _ = try godwit(
      [
        "import", models, lines, "--version", "Shapes 1", "--uuid", writer.uuid, "--validate", "none", "--output",
        sqlite,
      ])
  }

  func write(_ text: String, to path: String) throws {
    try text.write(toFile: path, atomically: false, encoding: .utf8)
  }

  /// What a command prints that has to succeed.
  func godwit(_ words: [String]) throws -> String {
    let outcome = try folder.run("godwit", words)
    guard outcome.code == 0 else { throw CommandProcess.Missing(description: "\(words): \(outcome)") }
    return outcome.output
  }

  func export(_ store: String, _ words: [String] = []) throws -> String {
    try godwit(["export", store, "--to-many", "--dates", "seconds", "--quiet"] + arguments + words)
  }

  private static func version(_ bundle: String, _ name: String, _ attributes: String) throws {
    let path = "\(bundle)/\(name).xcdatamodel"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try contents(attributes).write(toFile: path + "/contents", atomically: false, encoding: .utf8)
  }

  private static let types = [
    ("aText", "String"), ("small", "Integer 16"), ("middle", "Integer 32"), ("large", "Integer 64"),
    ("isOn", "Boolean"), ("ratio", "Double"), ("part", "Float"), ("price", "Decimal"), ("madeAt", "Date"),
    ("mark", "UUID"), ("place", "URI"), ("bytes", "Binary"), ("object", "Transformable"),
  ]

  private static let attributes = types.map {
    "<attribute name=\"\($0.0)\" optional=\"YES\" attributeType=\"\($0.1)\"/>"
  }.joined(separator: "\n")

  private static func link(_ name: String, to entity: String, _ inverse: String?, _ more: String = "") -> String {
    let back = inverse.map { " inverseName=\"\($0)\" inverseEntity=\"\(entity)\"" } ?? ""
    return
      "<relationship name=\"\(name)\" optional=\"YES\" \(more) deletionRule=\"Nullify\" destinationEntity=\"\(entity)\"\(back)/>"
  }

  /// Every type; inheritance; to-ones, to-manys, ordered and not, with all kinds of inverses.
  private static func contents(_ attributes: String) -> String {
    let (one, many) = ("maxCount=\"1\"", "toMany=\"YES\"")
    return """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" userDefinedModelVersionIdentifier="">
      <entity name="Shape" isAbstract="YES" syncable="YES">\(attributes)
      \(link("drawing", to: "Drawing", "shapes", one))</entity>
      <entity name="Circle" parentEntity="Shape" syncable="YES"><attribute name="radius" optional="YES" attributeType="Double"/></entity>
      <entity name="RoundThing" parentEntity="Circle" syncable="YES">
      \(link("tags", to: "Tag", "things", many + " ordered=\"YES\""))</entity>
      <entity name="Drawing" syncable="YES"><attribute name="name" optional="YES" attributeType="String"/>
      \(link("shapes", to: "Shape", "drawing", many + " ordered=\"YES\""))
      \(link("cover", to: "Shape", nil, one))
      \(link("frame", to: "Frame", "drawing", one))
      \(link("friends", to: "Drawing", "friends", many))</entity>
      <entity name="Frame" syncable="YES">\(link("drawing", to: "Drawing", "frame", one))</entity>
      <entity name="Tag" syncable="YES"><attribute name="name" optional="YES" attributeType="String"/>
      \(link("things", to: "RoundThing", "tags", many))</entity>
      </model>
      """
  }
}
