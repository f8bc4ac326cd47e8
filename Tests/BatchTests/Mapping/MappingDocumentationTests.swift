import Foundation
import Testing

@testable import MappingModels

@Suite("Documentation of mapping files")
struct MappingDocumentationTests {
  private static let docs = ExampleLibrary.root + "/docs"

  @Test("Every example of the format can be read")
  func examples() throws {
    let text = try String(contentsOfFile: Self.docs + "/manual/mapping-files.md", encoding: .utf8)
    let blocks = text.components(separatedBy: "```yaml\n").dropFirst().compactMap {
      $0.components(separatedBy: "\n```").first
    }
    #expect(blocks.count == 10)
    for block in blocks {
      let model = try MappingText.read(block, tables: ["Countries.csv": "code,name\nDE,Germany\n"])
      #expect(!model.entityMappings.isEmpty)
    }
    for key in Set(MappingFileObject.all.flatMap(\.keys)).subtracting(["$schema", "expression"]) {
      #expect(text.contains(key), "\(key) is not described")
    }
  }

  @Test("The schema for editors has the keys of the reader")
  func schema() throws {
    let data = try Data(contentsOf: URL(fileURLWithPath: Self.docs + "/mapping.schema.json"))
    let schema = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let definitions = try #require(schema["definitions"] as? [String: [String: Any]])
    for object in MappingFileObject.all {
      let properties = definitions[object.definition]?["properties"] as? [String: Any]
      #expect(properties?.keys.sorted() == object.keys.sorted(), "\(object.definition)")
    }
    let objects = definitions.filter { $0.value["properties"] != nil }.keys.sorted()
    #expect(objects == MappingFileObject.all.map(\.definition).sorted())
    let types = (definitions["value"]?["properties"] as? [String: [String: Any]])?["to"]?["enum"] as? [String]
    #expect(types == RuleType.allCases.map(\.rawValue))
  }
}
