import Foundation
import Streams
import Testing

@testable import CoreDataModel
@testable import MappingModels

@Suite("Mapping models of real applications", .enabled(if: ModelCorpus.isPresent))
struct MappingCorpusTests {
  /// By folder relative to the corpus. Mapping models that lie there gzipped are unpacked into a temporary folder.
  static let models: Result<[String: MappingModel], any Error> = Result {
    var models: [String: MappingModel] = [:]
    for folder in try ModelCorpus.folders("xcmappingmodel", below: "mappings") {
      let path = try ModelCorpus.path(folder)
      let isPacked = !FileManager.default.fileExists(atPath: path + "/xcmapping.xml")
      let readable = isPacked ? try unpack(path) : path
      defer {
        if isPacked { try? FileManager.default.removeItem(atPath: (readable as NSString).deletingLastPathComponent) }
      }
      for model in try MappingModelReader.read(path: readable) { models[folder] = model }
    }
    return models
  }

  /// The table lists archived expressions only. These come from Xcode's fields for a mapping and a key path (D.2), but
  /// for the first one, which the table lacks and the list of mappings has (WooCommerce, 9 to 10, Order.statusKey).
  static let notInTable =
    ["$source.status"]
    + [
      ("ContinentToContinent", "$source.country.continent"), ("CountryToCountry", "$source.country"),
      ("MoodToMood", "$source.countries.@distinctUnionOfSets.moods"), ("NoteToNote", "$source"),
    ].map {
      "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"\($0.0)\", \($0.1))"
    }

  static func unpack(_ path: String) throws -> String {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      .appendingPathComponent((path as NSString).lastPathComponent).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data().write(to: URL(fileURLWithPath: folder + "/xcmapping.xml"))
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["gzip", "-dc", path + "/xcmapping.xml.gz"]
    process.standardOutput = FileHandle(forWritingAtPath: folder + "/xcmapping.xml")
    try process.run()
    process.waitUntilExit()
    return folder
  }

  @Test("Every mapping model is read, with all its parts")
  func everyOne() throws {
    let models = try Self.models.get()
    let entities = models.values.flatMap(\.entityMappings)
    let attributes = entities.flatMap(\.attributeMappings)
    let relationships = entities.flatMap(\.relationshipMappings)
    #expect(models.count == 53)
    #expect(entities.count == 598 && attributes.count == 3_872 && relationships.count == 1_973)
    #expect(entities.filter { $0.policyClassName != nil }.count > 20)
  }

  @Test("Hashes of embedded models are those of the versions in XML")
  func embeddedHashes() throws {
    var equal = 0
    var different: [String] = []
    let known = Dictionary(grouping: ModelCorpus.hashes) { String($0.key.prefix { $0 != "/" }) }.mapValues { versions in
      Set(versions.flatMap { $0.value.map { [$0.key, Data($0.value).base64EncodedString()] } })
    }
    for (folder, model) in try Self.models.get() {
      let repository = String(folder.dropFirst("mappings/".count).prefix { $0 != "/" })
      for (entity, hash) in Array(model.sourceHashes) + Array(model.destinationHashes) {
        if known[repository]?.contains([entity, Data(hash).base64EncodedString()]) == true {
          equal += 1
        } else {
          different.append("\(folder) \(entity)")
        }
      }
      let wanted =
        Set(model.entityMappings.compactMap(\.sourceEntity)).count
        + Set(model.entityMappings.compactMap(\.destinationEntity)).count
      if model.sourceHashes.count + model.destinationHashes.count != wanted { different.append("count \(folder)") }
    }
    #expect(different == [])
    #expect(equal == 1_168)
  }

  @Test("Every value expression prints as it stands in the table of expressions")
  func expressions() throws {
    let rows = try ModelCorpus.table(ModelCorpus.path("../spec/value-expressions.tsv"))
    let table = Set(rows.compactMap { $0["expression"] })
    var found: [String: Int] = [:]
    for model in try Self.models.get().values {
      for mapping in model.entityMappings {
        for property in mapping.attributeMappings + mapping.relationshipMappings {
          guard let expression = property.valueExpression else { continue }
          found[expression.description, default: 0] += 1
        }
      }
    }
    #expect(found.keys.filter { !table.contains($0) }.sorted() == Self.notInTable)
    #expect(found.values.reduce(0, +) == 33 && found.count == 26)
  }

  @Test("Every expression of the table, and of every mapping model, is read from its text as it is from its archive")
  func texts() throws {
    let rows = try ModelCorpus.table(ModelCorpus.path("../spec/value-expressions.tsv"))
    for text in rows.compactMap({ $0["expression"] }) {
      // Booleans are numbers in archives.
      let same = ["true": "1", "false": "0"][text] ?? text
      #expect(try CoreDataModel.Expression(format: text).description == same)
    }
    for mapping in try Self.models.get().values.flatMap(\.entityMappings) {
      for property in mapping.attributeMappings + mapping.relationshipMappings {
        guard let expression = property.valueExpression else { continue }
        #expect(try CoreDataModel.Expression(format: expression.description) == expression)
      }
      if let filter = mapping.filterPredicate {
        #expect(try CoreDataModel.Predicate(format: filter).description == filter)
      }
    }
  }
}
