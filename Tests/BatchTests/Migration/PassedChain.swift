import Foundation
import Streams

@testable import CoreDataModel
@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations

/// A chain of versions of one library, each step of a kind: what the versions have in common is the same, every step
/// adds an attribute.
struct PassedChain {
  enum Kind: String, CaseIterable { case inferred, filter, readers, rules, asking, objects, policy }

  let seed: UInt64
  let kinds: [Kind]
  let versions: [ManagedObjectModel]
  /// Have books a sub-entity? Then filters end a pass: links are filtered mapping by mapping.
  let hasComics: Bool

  /// A chain of random steps.
  init(seed: UInt64) {
    var random = SeededRandom(seed)
    let count = Int.random(in: 3...5, using: &random)
    self.init((0..<count).map { _ in Kind.allCases.randomElement(using: &random) ?? .inferred }, seed: seed)
  }

  init(_ kinds: [Kind], seed: UInt64) {
    (self.kinds, self.seed) = (kinds, seed)
    let hasComics = seed % 3 == 0
    self.hasComics = hasComics
    versions = (0...kinds.count).map { Self.version($0, hasComics: hasComics) }
  }

  private static func version(_ number: Int, hasComics: Bool) -> ManagedObjectModel {
    let pages: [AttributeType] = [.integer32, .integer64, .double]
    var book = StoreModels.entity(
      "Book", [("title", .string), ("word", .string), ("pages", pages[min(number / 2, 2)]), ("sold", .date)],
      [
        StoreModels.link("shelf", "Shelf", "books"), StoreModels.link("readers", "Reader", "books", many: true),
        StoreModels.link("authors", "Author", "books", many: true),
      ])
    book.attributes += (0..<number).map {
      MigrationModels.attribute("step\($0)", .integer64, value: .integer(Int64($0)))
    }
    let entities = [
      StoreModels.entity(
        "Author", [("name", .string)], [StoreModels.link("books", "Book", "authors", many: true)]),
      book,
      StoreModels.entity("Reader", [("name", .string)], [StoreModels.link("books", "Book", "readers", many: true)]),
      StoreModels.entity(
        "Shelf", [("name", .string), ("room", .integer32)],
        [
          // Ordered in every other version; the last of them without inverse.
          StoreModels.link("books", "Book", "shelf", many: true, ordered: number % 2 == 0),
          StoreModels.link("fans", "Reader", nil, many: true),
        ]),
    ]
    let comics = hasComics ? [StoreModels.entity("Comic", parent: "Book", [("colors", .integer16)])] : []
    return ManagedObjectModel(name: "V\(number + 1)", entities: entities + comics)
  }

  /// The mapping file of a step; nil for one that is inferred. Entities of which nothing is said are mapped by name.
  private func file(_ step: Int) -> String? {
    let lines: String
    switch kinds[step] {
    case .inferred: return nil
    case .filter: lines = "  - { from: Book, filter: \"pages == nil OR pages > 20\" }"
    case .readers: lines = "  - { from: Reader, filter: name != nil AND name > 'f' }"
    case .rules:
      lines = """
          - from: Book
            attributes:
              step\(step): { cast: $source.word, to: integer, default: 3 }
              title: { join: [{ prefix: $source.title, length: 9 }, \(step == 0 ? "1" : "$source.step\(step - 1)"), { lookup: $source.word, in: words }, { prefix: { uuid: repeatable }, length: 6 }] }
              sold: { if: "pages > 50", then: $source.sold, else: { date: { value: "2001-01-02" }, format: yyyy-MM-dd } }
        """
    case .asking:
      lines = """
          - from: Book
            attributes:
              step\(step): $source.readers.@count * 100 + $source.shelf.books.@count
        """
    case .objects:
      lines = """
          - from: Book
            objects:
              - findOrCreate: Author
                by: { name: { join: [{ prefix: $source.title, length: 1 }, \(step)] } }
                link: authors
        """
    case .policy: lines = "  - { from: Book, policy: PassedChainPolicy, userInfo: { attribute: step\(step) } }"
    }
    return """
      from: V\(step + 1)
      to: V\(step + 2)
      others: true
      tables: { words: words.csv }
      entities:
      \(lines)

      """.split(separator: "\n", omittingEmptySubsequences: false).filter {
        !$0.hasPrefix("tables") || kinds[step] == .rules
      }
      .joined(separator: "\n")
  }

  /// A folder with the models, the files and a store of the first version, and the request to go all the way.
  func prepare(rows: UInt64) throws -> (MigrationFolder, MigrationJob.Request) {
    let folder = try MigrationFolder(versions, policies: [PassedChainPolicy.self])
    let store = try folder.sample("V1", rows: rows, seed: seed)
    try MigrationFolder.execute(
      store, "DELETE FROM Z_1BOOKS; UPDATE ZBOOK SET ZWORD = Z_PK % 5, ZPAGES = nullif(Z_PK % 90, 7)")
    let mappings = "\(folder.path)/Files"
    try FileManager.default.createDirectory(atPath: mappings, withIntermediateDirectories: true)
    try Data("key,value\n1,one\n3,three\n".utf8).write(to: URL(fileURLWithPath: "\(mappings)/words.csv"))
    for step in kinds.indices {
      guard let text = file(step) else { continue }
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(mappings)/Step\(step).yaml"))
    }
    var request = folder.request(store, output: try folder.place("output"))
    request.mappings = [mappings]
    return (folder, request)
  }
}

/// Looks at related objects of its version, leaves objects out, changes others late.
struct PassedChainPolicy: EntityMigrationPolicy {
  var createsRelationships: Bool { true }

  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    guard source.key % 7 != 0 else { return }
    let object = try manager.createDestinationInstance(forSource: source, in: mapping)
    let readers = try source.objects("readers").reduce(0) { $0 + $1.key }
    let room = try source.object("shelf")?.integer("room") ?? -1
    try object.set(mapping.userInfo["attribute"] ?? "", .integer(readers * 1000 + room % 1000))
  }

  func createRelationships(
    forDestination destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
  )
    throws
  {
    if destination.key % 11 == 0 { try destination.set("title", .text("late")) }
  }
}
