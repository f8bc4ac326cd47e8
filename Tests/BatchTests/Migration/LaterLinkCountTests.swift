import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import MigrationJobs
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

  /// A version of books of some kinds, each with links of its own, which are declared by what all of them are.
  private struct Version {
    var links: Links = ([], [])
    var kinds: [String: [RelationshipDescription]] = ["Comic": [], "Novel": []]

    /// Keys that become rows, and rows that get places, make a stage of the second version.
    func model(_ number: Int) -> ManagedObjectModel {
      let tags = StoreModels.link("tags", "Tag", "items", many: number > 1)
      let items = StoreModels.link("items", "Item", "tags", many: true, ordered: number > 2)
      let entities = [
        EntityDescription(name: "Book", isAbstract: true, relationships: links.book),
        FusedLinkTests.reader(links.reader), MigrationModels.entity("Item", [], [tags]),
        MigrationModels.entity("Tag", [], [items]),
      ]
      return ManagedObjectModel(
        name: "V\(number)",
        entities: entities + kinds.map { MigrationModels.entity($0.key, parent: "Book", [], $0.value) })
    }
  }

  /// Of each version but the last one, how many links the lines with those names count; and what is dropped.
  private static func told(_ names: Set<String>, _ versions: [Version]) throws
    -> (counts: [[String: UInt64?]], drops: [String], sums: String)
  {
    let plan = try FusedMigrationTests.passes(versions.enumerated().map { $1.model($0 + 1) })
    let counts = plan.accounts.map { account in
      account.lines.filter { names.contains($0.name ?? "") && $0.countedAs == nil }.map { ($0.path, $0.count) }
    }
    return (
      counts.map { Dictionary(uniqueKeysWithValues: $0) },
      plan.accounts.flatMap(\.notes).filter { $0.contains(" drops ") },
      plan.accounts.last?.balance ?? ""
    )
  }

  /// Comics and novels have links of their own.
  private static let apart: Version = {
    let kinds = [("Comic", "comics"), ("Novel", "novels")]
    let own = kinds.map { ($0.0, [readers(many: true, inverse: $0.1)]) }
    return Version(
      links: ([], kinds.map { StoreModels.link($0.1, $0.0, "readers", many: true) }),
      kinds: Dictionary(uniqueKeysWithValues: own))
  }()

  @Test("A plan gives no number of links that two relationships have a part of each, and names those that are dropped")
  func parted() throws {
    var comics = Self.apart
    (comics.links.reader, comics.kinds["Novel"]) = ([Self.apart.links.reader[0]], [])
    for (last, names) in [(Version(), "Comic.readers, Novel.readers"), (comics, "Novel.readers")] {
      let (counts, drops, sums) = try Self.told(["readers"], [Version(links: Self.rows), Self.apart, last])
      #expect(counts.count == 2 && counts[0].count == 1 && counts[0].values.allSatisfy { ($0 ?? 0) > 0 }, "\(counts)")
      #expect(counts.last == ["Comic.readers": nil, "Novel.readers": nil])
      #expect(drops == ["V2 to V3 drops \(names)"])
      #expect(sums.hasSuffix(" carried) and links that are not counted"), "\(sums)")
    }
  }

  @Test("A plan counts links once that come to a relationship of several entities through its other side")
  func throughOtherSide() throws {
    for first in [Self.rows, Self.keys] {
      let between = Version(links: ([Self.owners], [Self.ownedBooks]))
      let (counts, drops, _) = try Self.told(["readers", "owners"], [Version(links: first), between, Version()])
      let all = counts.map { $0.values.reduce(0) { $0 + ($1 ?? 0) } }
      #expect(counts.count == 2 && all[0] > 0 && counts[1] == ["Comic.owners": all[0]], "\(counts)")
      #expect(drops == ["V2 to V3 drops \(all[0]) links of Comic.owners"])
    }
  }

  @Test("A plan gives no number of links of which an earlier version dropped a part with an entity")
  func partlyDropped() throws {
    let between = Version(links: Self.rows, kinds: ["Comic": []])
    let (counts, drops, _) = try Self.told(
      ["readers"], [Version(links: Self.rows), between, Version(kinds: ["Comic": []])])
    #expect(counts.last == ["Comic.readers": nil], "\(counts)")
    #expect(drops.last == "V2 to V3 drops Comic.readers", "\(drops)")
  }

  @Test("A loss of more lines than are named adds up the rest where all were counted, and only then")
  func manyLines() {
    let lines = (1...14).map { number in
      var line = AccountLine(.attribute, entity: "Book", name: "a\(number)", fate: .lost)
      line.count = 10
      return line
    }
    var partial = lines
    partial[13].count = nil
    let ends = [lines, partial].map { LossJudge.text([.init(reason: "it loses", lines: $0)]) }
    #expect(ends[0].hasSuffix("10 values of Book.a12 and 20 of 2 others"), "\(ends)")
    #expect(ends[1].hasSuffix("10 values of Book.a12 and 2 others"), "\(ends)")
  }
}
