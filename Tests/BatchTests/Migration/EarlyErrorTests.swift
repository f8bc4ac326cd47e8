import Foundation
import Streams
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

/// What a step would refuse is refused by the plan, also where the store that it would read is not there yet.
@Suite struct EarlyErrorTests {
  private static let versions = (1...3).map { number in
    ManagedObjectModel(
      name: "L\(number)",
      entities: [
        StoreModels.entity(
          "Book", [("title", .string), ("pages", .integer32)] + (1..<number).map { ("new\($0)", .string) },
          [StoreModels.link("shelf", "Shelf", "books")]),
        StoreModels.entity("Shelf", [("name", .string)], [StoreModels.link("books", "Book", "shelf", many: true)]),
      ])
  }

  private static func mappings(_ change: (inout EntityMapping) throws -> Void) rethrows -> [MappingModel] {
    try (1...2).map { number in
      var book = EntityMapping(sourceEntity: "Book", destinationEntity: "Book")
      book.attributeMappings = ["title", "pages"].map { PropertyMapping(name: $0) }
      book.relationshipMappings = [PropertyMapping(name: "shelf")]
      if number == 2 { try change(&book) }
      var shelf = EntityMapping(sourceEntity: "Shelf", destinationEntity: "Shelf")
      shelf.attributeMappings = [PropertyMapping(name: "name")]
      shelf.relationshipMappings = [PropertyMapping(name: "books")]
      var model = MappingModel(name: "Step\(number)", entityMappings: [book, shelf])
      (model.sourceModelName, model.destinationModelName) = ("L\(number)", "L\(number + 1)")
      return model
    }
  }

  @Test(
    "Expressions and filters of a later step are compiled by the plan: the error names mapping, property and place (trap 1)",
    arguments: [
      ("$source.author", nil, "BookToBook.title reads author, which the source does not have"),
      (
        "$source.author.name", nil,
        "BookToBook.title, $source.author.name, reads author, which the source's Book does not have"
      ),
      (
        "SUBQUERY($source.shelf, $x, $x.name = 'a').@count", nil,
        "is not supported (it has a subquery of no collection)"
      ),
      (nil, "title MATCHES '('", "the filter of BookToBook has a regular expression that is none"),
      (nil, "author = 'x'", "the filter of BookToBook reads author"),
      (nil, "pages > 3 AND title LIKE", "the filter of BookToBook cannot be read: pages > 3 AND title LIKE"),
    ] as [(String?, String?, String)])
  func later(expression: String?, filter: String?, text: String) throws {
    let folder = try MigrationFolder(
      Self.versions,
      mappings: try Self.mappings { book in
        if let expression {
          book.attributeMappings[0].valueExpression = try CoreDataModel.Expression(format: expression)
        }
        book.filterPredicate = filter
      })
    let store = try folder.sample("L1", rows: 30, seed: 1)
    let before = try MigrationFolder.tree(folder.path)
    for isPlan in [true, false] {
      let request = folder.request(store)
      let error = #expect(throws: BatchError.self) {
        if isPlan { _ = try folder.job().plan(request) } else { _ = try folder.migrate(request) }
      }
      #expect(error?.code == .badMapping && error?.entity == "Book", "\(String(describing: error))")
      #expect("\(String(describing: error))".contains(text), "\(String(describing: error))")
    }
    #expect(try MigrationFolder.tree(folder.path) == before)
  }

  @Test("Links that a later step's mapping carries from one side alone are all there: the to-many has them, too")
  func laterStructure() throws {
    var models = Self.mappings { _ in }
    models[1].entityMappings[0].relationshipMappings = []
    let folder = try MigrationFolder(Self.versions, mappings: models)
    let store = try folder.sample("L1", rows: 10, seed: 1)
    let links = "SELECT Z_PK, ZSHELF FROM ZBOOK ORDER BY 1"
    let before = try MigrationFolder.rows(store, links)
    #expect(before.contains { !$0.contains("NULL") })
    _ = try folder.migrate(folder.request(store))
    #expect(try MigrationFolder.rows(store, links) == before)
  }

  @Test("A name that two entity mappings of a step bear finds neither: it is refused where something asks for it")
  func ambiguous() throws {
    var models = Self.mappings { book in
      book.relationshipMappings[0].valueExpression = .destinationInstances(
        ofMapping: "Mine", source: .keyPath(text: "$source.shelf"))
    }
    models[1].entityMappings[0].name = "Mine"
    models[1].entityMappings[1].name = "Mine"
    let folder = try MigrationFolder(Self.versions, mappings: models)
    let store = try folder.sample("L1", rows: 10, seed: 1)
    let error = #expect(throws: BatchError.self) { try folder.job().plan(folder.request(store)) }
    #expect(
      error?.message == "Mine.shelf names the entity mapping Mine, of which the step has several",
      "\(String(describing: error))")
  }

  @Test(
    "An attribute of another type that nothing converts is the policy's to set; where it is not set, mapping and object are named"
  )
  func unfit() throws {
    let models = [("T1", AttributeType.string), ("T2", .date)].map { name, type in
      ManagedObjectModel(
        name: name, entities: [StoreModels.entity("Build", [("number", .integer32), ("ended", type)])])
    }
    for policy in [UnfitPolicy.self, IdlePolicy.self] as [any EntityMigrationPolicy.Type] {
      var mapping = EntityMapping(sourceEntity: "Build", destinationEntity: "Build")
      mapping.attributeMappings = ["number", "ended"].map { PropertyMapping(name: $0) }
      mapping.policyClassName = policy.className
      var model = MappingModel(name: "M", entityMappings: [mapping])
      (model.sourceModelName, model.destinationModelName) = ("T1", "T2")
      let folder = try MigrationFolder(models, mappings: [model], policies: [policy])
      let store = try folder.sample("T1", rows: 20, seed: 1)
      guard policy == UnfitPolicy.self else {
        let error = #expect(throws: BatchError.self) { try folder.migrate(folder.request(store)) }
        #expect(
          error?.message == "ended changes from string to date, and the policy does not set it" && error?.key == 1)
        continue
      }
      _ = try folder.migrate(folder.request(store))
      #expect(try MigrationFolder.rows(store, "SELECT DISTINCT ZENDED FROM ZBUILD") == ["int64(7)"])
    }
  }

  @Test(
    "What cannot be read in an expression is told with its place",
    arguments: [
      ("a.b + * c", "has \"*\" where a value belongs, near character 7"),
      ("'ä' + %K", "placeholder %K, which only code can fill, near character 7"),
      ("uppercase:(a", "near character 12"), ("a + nothing(b)", "nothing"),
      ("  ~a", "has \"~\", which is not understood, near character 3"),
    ])
  func places(expression: String, text: String) throws {
    let error = #expect(throws: BatchError.self) { try CoreDataModel.Expression(format: expression) }
    #expect(
      error?.message.contains(text) == true && error?.message.contains("near character") == true,
      "\(String(describing: error))")
  }
}

/// Sets what changes its type.
struct UnfitPolicy: EntityMigrationPolicy {
  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try manager.createDestinationInstance(forSource: source, in: mapping).set("ended", .real(7))
  }
}

/// Leaves everything to the mapping.
struct IdlePolicy: EntityMigrationPolicy {}
