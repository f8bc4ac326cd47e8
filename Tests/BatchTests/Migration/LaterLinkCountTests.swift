import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import Migrations

/// How many links of a version between are told, which hang on inference alone: nobody sees such a version.
extension FusedLinkTests {
  @Test("A plan counts links that a later version drops, where the version between is a stage and keeps one side")
  func told() throws {
    let special = MigrationModels.entity("Special", parent: "Reader", [])
    let paths: [Links] = [Self.keys, ([Self.owners], [Self.ownedBooks]), ([], [])]
    let plan = try FusedMigrationTests.passes(
      FusedMigrationTests.versions(paths.map { [Self.book($0.book), Self.reader($0.reader), special] }))
    let links = plan.accounts.map { $0.lines.filter { $0.kind == .relationship }.compactMap(\.count) }
    #expect(links.count == 2 && links[0].count == 1 && links[0][0] > 0 && links[0] == links[1], "\(links)")
    #expect(plan.accounts[1].notes.contains { $0.contains("links of Book.owners") })
  }

  @Test("A plan counts links of sub-entities once, though both sides go on and another entity comes first by name")
  func toldOnce() throws {
    func versions(_ name: String, many: Bool) -> [EntityDescription] {
      let book = EntityDescription(name: "Book", isAbstract: true, relationships: [Self.readers(many: many)])
      let comic = MigrationModels.entity(name, parent: "Book", id: name == "Comic" ? nil : "Comic", [], [])
      return [book, comic, MigrationModels.entity("Novel", parent: "Book", [], []), Self.reader([Self.books()])]
    }
    let last = ["Zine", "Novel"].map { MigrationModels.entity($0, [MigrationModels.attribute("title")]) }
    let plan = try FusedMigrationTests.passes(
      FusedMigrationTests.versions([
        versions("Comic", many: false), versions("Zine", many: true), last + [Self.reader([])],
      ]))
    let links = plan.accounts.map { account in
      account.lines.filter { $0.kind == .relationship }.compactMap(\.count).reduce(0, +)
    }
    #expect(links.count == 2 && links[0] > 0 && links[0] == links[1], "\(links)")
  }

  @Test("A plan counts links that a sub-entity inherits once, in a later version that drops them all, too")
  func toldOfHeirs() throws {
    let comic = MigrationModels.entity("Comic", parent: "Book", [])
    let special = MigrationModels.entity("Special", parent: "Book", [])
    let versions = [(Self.rows, [comic]), (Self.rows, [comic, special]), (([], []), [comic])].map { links, more in
      [Self.book(links.book), Self.reader(links.reader)] + more
    }
    let plan = try FusedMigrationTests.passes(FusedMigrationTests.versions(versions))
    let links = plan.accounts.map { $0.lines.filter { $0.kind == .relationship }.compactMap(\.count).filter { $0 > 0 } }
    #expect(links.count == 2 && links[0].count == 1 && links[0] == links[1], "\(links)")
    let lost = plan.accounts.flatMap(\.notes).filter { $0.contains(" drops ") }
    #expect(lost.count == 1 && lost[0].contains("links of Book.readers") && !lost[0].contains("Comic"), "\(lost)")
  }

  /// What a plan tells of the links of books, which two relationships have a part of each in the version between: the counts
  /// of each version's lines by their paths, and what is dropped.
  private static func parted(_ last: Links, keeping kept: Set<String> = []) throws
    -> (counts: [[String]], drops: [String])
  {
    let kinds = ["Comic": "comics", "Novel": "novels"].sorted { $0.key < $1.key }
    let sides = kinds.map { StoreModels.link($0.value, $0.key, "readers", many: true) }
    func version(_ links: Links, readers: Set<String> = [], tags isMany: Bool = true, ordered: Bool = false)
      -> [EntityDescription]
    {
      // Keys that become rows, and rows that get places, make a stage of the version between.
      let tags = StoreModels.link("tags", "Tag", "items", many: isMany)
      let items = StoreModels.link("items", "Item", "tags", many: true, ordered: ordered)
      return [
        EntityDescription(name: "Book", isAbstract: true, relationships: links.book), reader(links.reader),
        MigrationModels.entity("Item", [], [tags]), MigrationModels.entity("Tag", [], [items]),
      ]
        + kinds.map { name, inverse in
          let own = readers.contains(name) ? [StoreModels.link("readers", "Reader", inverse, many: true)] : []
          return MigrationModels.entity(name, parent: "Book", [], own)
        }
    }
    let plan = try FusedMigrationTests.passes(
      FusedMigrationTests.versions([
        version(rows, tags: false), version(([], sides), readers: ["Comic", "Novel"]),
        version(last, readers: kept, ordered: true),
      ]))
    return (
      plan.accounts.map { account in
        account.lines.filter { $0.name == "readers" && $0.countedAs == nil }
          .map { line in "\(line.path) \(line.count.map { "\($0 > 0)" } ?? "nil")" }
      }, plan.accounts.flatMap(\.notes).filter { $0.contains(" drops ") }
    )
  }

  @Test("A plan counts links that two relationships have a part of each once where a later version drops both")
  func partedAndDropped() throws {
    let (counts, drops) = try Self.parted(([], []))
    #expect(counts == [["Comic.readers true"], ["Comic.readers true"]])
    #expect(drops.count == 1 && drops[0].contains(" links of Comic.readers") && !drops[0].contains("Novel"), "\(drops)")
  }

  @Test("Where a later version drops one of two such relationships, a plan names it and gives no number")
  func partedAndKept() throws {
    let comics = StoreModels.link("comics", "Comic", "readers", many: true)
    let (counts, drops) = try Self.parted(([], [comics]), keeping: ["Comic"])
    #expect(counts == [["Comic.readers true"], ["Comic.readers nil", "Novel.readers nil"]])
    #expect(drops.map { $0.hasSuffix(" drops Novel.readers") } == [true], "\(drops)")
  }
}
