import Foundation
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import Migrations

@Suite("Mapping files that are written")
struct MappingFileWriterTests {
  @Test(
    "Every mapping model of real applications is translated and reads as the same one",
    .enabled(if: ModelCorpus.isPresent))
  func corpus() throws {
    var failed: [String] = []
    let models = try MappingCorpusTests.models.get()
    for (folder, model) in models {
      do { _ = try MappingFileWriter.text(model) } catch { failed.append("\(folder): \(error)") }
    }
    #expect(failed == [])
    #expect(models.count == 53)
  }

  @Test("The example's mapping models become files that fit the same steps")
  func example() throws {
    for model in try ExampleLibrary.mappings() {
      let read = try MappingFileReader.read(text: MappingFileWriter.text(model), name: model.name)
      #expect(read == model)
      #expect(MappingFileCheck(read, library: try ExampleLibrary.models()).steps.count == 1)
    }
  }

  @Test("Names and texts of every kind come back")
  func names() throws {
    let odd = [
      "a: b", "- x", "null", "true", "12", "#", "'", "\"", "\\", "é", " x", "x ", "\u{85}\u{2028}", "😀", "a\nb\t\u{1}",
      "~",
      "$same",
    ]
    var mapping = EntityMapping(name: "x:\n", sourceEntity: "{", destinationEntity: "[a]")
    mapping.attributeMappings = odd.map { PropertyMapping(name: $0, valueExpression: .constant(.text($0))) }
    for text in odd { mapping.userInfo[text] = text }
    var model = MappingModel(name: "Odd", entityMappings: [mapping])
    (model.sourceModelName, model.destinationModelName) = ("1.0", "{}")
    let text = try MappingFileWriter.text(model)
    #expect(try MappingFileReader.read(text: text, name: "Odd") == model)
  }

  @Test("A destination comes back, with all that is not the default")
  func destination() throws {
    var mapping = MappingModel(name: "Away", entityMappings: [EntityMapping(sourceEntity: "A", destinationEntity: "A")])
    (mapping.sourceModelName, mapping.destinationModelName) = ("A", "B")
    for schema in ["public", "a: b"] {
      for inheritance in TableInheritance.allCases {
        for names in TableNames.allCases {
          var options = PostgresOptions()
          (options.schema, options.inheritance, options.names) = (schema, inheritance, names)
          mapping.destination = .postgres(
            PostgresDestination(server: PostgresServer(url: "postgres://app@db/x?sslmode=require"), options: options))
          #expect(try MappingFileReader.read(text: MappingFileWriter.text(mapping), name: "Away") == mapping)
          for dates in PlainDates.allCases {
            var plain = PlainDestination(path: "a \(schema).sqlite")
            (plain.inheritance, plain.names, plain.dates) = (inheritance, names, dates)
            mapping.destination = .plain(plain)
            #expect(try MappingFileReader.read(text: MappingFileWriter.text(mapping), name: "Away") == mapping)
          }
        }
      }
    }
  }

  @Test("A draft of an inferable step needs nothing more: with it, the step is mapped as it would be inferred")
  func draft() throws {
    let folder = try MigrationFolder(MigrationModels.all)
    let library = try ModelLibrary(paths: [folder.models])
    for (old, new) in zip(library.versions, library.versions.dropFirst()) {
      let text = MappingFileWriter.draft(from: old, to: new)
      let read = try MappingFileReader.read(text: text, name: "Draft")
      #expect(MappingFileCheck(read, library: library).problems == [], "\(text)")
      let inferred = try MappingModel.inferred(from: old, to: new)
      let names = { (model: MappingModel) in
        Set(model.entityMappings.map { [$0.sourceEntity, $0.destinationEntity] })
      }
      #expect(names(read) == names(inferred))
    }
  }

  @Test("A draft says what cannot be inferred, where it stands")
  func todo() throws {
    let old = StoreModels.entity("Time", [("hour", .string), ("note", .string)])
    var new = StoreModels.entity("Time", [("hour", .date), ("note", .string), ("zone", .string)])
    new.attributes[2].isOptional = false
    let text = MappingFileWriter.draft(
      from: ManagedObjectModel(name: "A", entities: [old]), to: ManagedObjectModel(name: "B", entities: [new]))
    #expect(text.contains("# To do: Time.hour: the type changed"))
    #expect(text.contains("# To do: Time.zone is required; give it a value."))
    #expect(text.contains("hour: { undecided: the type changed from string to date }"), "\(text)")
    #expect(text.contains("zone: { undecided: \"it is required, and nothing gives it a value\" }"), "\(text)")
  }
}
