import Foundation
import Streams
import Testing

@testable import CoreDataModel
@testable import Migrations
@testable import RunSupport
@testable import StoreImports

/// A required attribute of several elements has a value where one of them has, of cases, or where each has that needs
/// one. An application ends with an error when it reads one without.
@Suite("Required enumerations and structures without a value")
struct RequiredCompositeTests {
  private static func element(_ name: String, optional: Bool = true) -> AttributeDescription {
    var element = AttributeDescription(name: name, type: .string)
    element.isOptional = optional
    return element
  }

  /// An enumeration without raw values, one with them, or a structure, as SwiftData stores them.
  private static func composite(_ kind: String, optional: Bool) -> AttributeDescription {
    var composite = AttributeDescription(name: "k", type: .composite)
    (composite.compositeName, composite.isOptional) = ("K", optional)
    switch kind {
    case "cases":
      composite.elements = [element("one"), element("two")]
      composite.userInfo[AttributeDescription.enumeration] = "1"
    case "raw": composite.elements = [element("k")]
    default: composite.elements = [element("a", optional: optional), element("b")]
    }
    return composite
  }

  private static func entity(_ attributes: [AttributeDescription]) -> EntityDescription {
    var entity = EntityDescription(name: "X")
    entity.attributes = attributes
    return entity
  }

  @Test(
    "An inferred step behind a mapping file refuses objects without a value", arguments: ["cases", "raw", "structure"])
  func later(kind: String) throws {
    let name = AttributeDescription(name: "n", type: .string)
    let more = AttributeDescription(name: "m", type: .string)
    let versions = [
      ManagedObjectModel(name: "A", entities: [Self.entity([Self.composite(kind, optional: true)])]),
      ManagedObjectModel(name: "B", entities: [Self.entity([Self.composite(kind, optional: true), name])]),
      ManagedObjectModel(name: "C", entities: [Self.entity([Self.composite(kind, optional: false), name, more])]),
    ]
    let folder = try MigrationFolder(versions)
    let store = try folder.sample("A", rows: 0, seed: 1)
    let columns = ["cases": "ZONE", "raw": "ZK", "structure": "ZA"]
    let column = try #require(columns[kind])
    try MigrationFolder.execute(store, "INSERT INTO ZX (Z_PK, Z_ENT, Z_OPT, \(column)) VALUES (1, 1, 1, 'v')")
    let file = folder.path + "/ab.yaml"
    try Data("from: A\nto: B\nentities:\n  - from: X\n    attributes: { n: { value: a } }\n".utf8)
      .write(to: URL(fileURLWithPath: file))
    for isMissing in [false, true] {
      if isMissing { try MigrationFolder.execute(store, "UPDATE ZX SET \(column) = NULL") }
      var request = folder.request(try folder.copy(store, as: "\(isMissing)"))
      (request.mappings, request.target) = ([file], .version("C"))
      guard isMissing else {
        #expect(try folder.migrate(request).isVerified)
        continue
      }
      let error = #expect(throws: BatchError.self) { try folder.migrate(request) }
      #expect(error?.message.contains("X.k") == true && error?.key == 1, "\(String(describing: error))")
    }
  }

  @Test("An import refuses a line without a value, with its number", arguments: ["cases", "raw", "structure"])
  func imported(kind: String) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("required-\(UUID().uuidString)").path
    try LocalFileSystem().makeDirectory(folder)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let model = ManagedObjectModel(name: "C", entities: [Self.entity([Self.composite(kind, optional: false)])])
    let element = ["cases": "k.two", "raw": "k.k", "structure": "k.a"][kind] ?? ""
    let lines = ["{\"attributes\":{\"\(element)\":\"v\"}}", "{\"attributes\":{\"\(element)\":null}}"]
    for count in 1...2 {
      let (input, store) = ("\(folder)/X.jsonl", "\(folder)/\(count).sqlite")
      try lines.prefix(count).joined(separator: "\n").write(toFile: input, atomically: false, encoding: .utf8)
      func run() throws {
        _ = try StoreImport(model: model, options: StoreImport.Options()).run(
          [input], to: store, fileSystem: LocalFileSystem(), monitor: RunMonitor()
        ) { _ in }
      }
      guard count == 2 else {
        try run()
        continue
      }
      let error = #expect(throws: BatchError.self) { try run() }
      let text = error.map { "\($0)" } ?? ""
      #expect(text.contains("is required and has no value") && text.contains("line 2"), "\(text)")
    }
  }
}
