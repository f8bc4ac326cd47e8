import Foundation
import Testing

@testable import CoreDataModel
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

/// An entity that becomes several, none of which has everything: what an object loses is told, and given up, first.
@Suite("Values that not every mapping of an entity carries")
struct SplitLossTests {
  private static let media = [
    StoreModels.entity(
      "Media", [("name", .string), ("kind", .integer16), ("width", .integer32), ("length", .double)],
      [StoreModels.link("owner", "Owner", "media")]),
    StoreModels.entity("Owner", [("name", .string)], [StoreModels.link("media", "Media", "owner", many: true)]),
  ]
  private static let parts = [
    StoreModels.entity(
      "Photo", [("name", .string), ("width", .integer32)], [StoreModels.link("owner", "Owner", "photos")]),
    StoreModels.entity("Video", [("name", .string), ("length", .double)], []),
    StoreModels.entity("Owner", [("name", .string)], [StoreModels.link("photos", "Photo", "owner", many: true)]),
  ]
  private static let split = """
      - from: Media
        to: Photo
        filter: kind == 1
      - from: Media
        to: Video
        filter: kind == 2
      - from: Owner
        relationships: { photos: $source.media }
    """

  /// Three photos and three videos; `wide` and `long` say what the others have of the values that are not theirs.
  private static func store(wide: Bool, long: Bool, owned: Bool = true) throws -> RuleStore {
    let rows = (1...6).map { key in
      let isPhoto = key % 2 == 0
      let width = isPhoto || wide ? "\(key)" : "NULL"
      let length = !isPhoto || long ? "\(key).5" : "NULL"
      let owner = isPhoto || owned ? "1" : "NULL"
      return (
        "Media", "Z_PK, ZNAME, ZKIND, ZWIDTH, ZLENGTH, ZOWNER",
        "\(key), 'm', \(isPhoto ? 1 : 2), \(width), \(length), \(owner)"
      )
    }
    return try RuleStore(media, parts, [("Owner", "Z_PK, ZNAME", "1, 'o'")] + rows)
  }

  private static func error(_ store: RuleStore, _ mapping: String) throws -> BatchError {
    var request = try store.request(mapping)
    request.consent = LossConsent()
    let before = try MigrationFolder.bytes(request.source)
    let error = try #require(throws: BatchError.self) { _ = try store.folder.migrate(request) }
    #expect(try MigrationFolder.bytes(request.source) == before)
    return error
  }

  @Test(
    "What the objects of one part lose is refused with its count, by attribute and relationship, before a row is read")
  func refused() throws {
    let error = try Self.error(Self.store(wide: true, long: true), Self.split)
    #expect(error.code == .refused && error.effect == .nothingWritten)
    for text in ["3 values of Media.width", "3 values of Media.length", "3 links of Media.owner"] {
      #expect(error.message.contains(text), "\(error)")
    }
    #expect(error.message.contains("Media.name") == false && error.message.contains("in the step A to B"), "\(error)")
  }

  @Test("Where nothing is lost nothing is asked; who gives it up gets the counts, from plan and run alike")
  func told() throws {
    let fitting = try Self.store(wide: false, long: false, owned: false)
    var request = try fitting.request(Self.split)
    request.consent = LossConsent()
    #expect(try fitting.folder.migrate(request).isVerified)
    let losing = try Self.store(wide: true, long: false)
    request = try losing.request(Self.split)
    request.consent = LossConsent(dropped: ["Media.width", "Media.owner"])
    let plan = try losing.folder.job().plan(request, for: .plan)
    let report = try losing.folder.migrate(request)
    let account = try #require(report.accounts.first?.versions.first)
    #expect(plan.accounts.first?.balance == account.balance)
    #expect(account.balance?.contains("3 lost") == true && account.balance?.contains("3 cleared") == true)
    #expect(
      report.notes.contains { $0.contains("A to B loses 3 values of Media.width, 3 links of Media.owner") },
      "\(report.notes)")
  }

  @Test("An object that several mappings take loses what none of them carries, in one pass over its table or in two")
  func copied() throws {
    let copy = Self.split.replacing("    filter: kind == 1\n", with: "")
    let error = try Self.error(Self.store(wide: true, long: true), copy)
    #expect(error.message.contains("3 values of Media.length"), "\(error)")
    #expect(!error.message.contains("Media.width") && !error.message.contains("Media.owner"), "\(error)")
  }

  @Test("In a later step it is found when the step is made, and refused before the cut-over")
  func later() throws {
    var between = Self.media
    between[1].attributes.append(AttributeDescription(name: "more", type: .string))
    let folder = try MigrationFolder([
      ManagedObjectModel(name: "A", entities: Self.media), ManagedObjectModel(name: "B", entities: between),
      ManagedObjectModel(name: "C", entities: Self.parts),
    ])
    let store = try folder.sample("A", rows: 300, seed: 5)
    try MigrationFolder.execute(
      store, "UPDATE ZMEDIA SET ZKIND = 1 + Z_PK % 2, ZWIDTH = 5, ZLENGTH = NULL, ZOWNER = NULL")
    let videos = try #require(MigrationFolder.rows(store, "SELECT count(*) FROM ZMEDIA WHERE ZKIND = 2").first)
    let file = "\(folder.path)/split.yaml"
    let text = "from: B\nto: C\nentities:\n\(Self.split)\n"
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    var request = folder.request(store)
    (request.mappings, request.consent) = ([file], LossConsent(dropped: ["Owner.more"]))
    let before = try MigrationFolder.bytes(store)
    let error = try #require(throws: BatchError.self) { _ = try folder.migrate(request) }
    #expect(
      error.message.contains("values of Media.width")
        && videos.contains("\(error.message.firstMatch(of: /([0-9]+) values of Media.width/)?.1 ?? "-")"), "\(error)")
    #expect(try MigrationFolder.bytes(store) == before)
  }

  @Test("Objects of a to-many without inverse are counted where they become what it does not take")
  func withoutInverse() throws {
    var media = Self.media
    media[1].relationships.append(StoreModels.link("picks", "Media", nil, many: true))
    var parts = Self.parts
    parts[2].relationships.append(StoreModels.link("picks", "Photo", nil, many: true))
    let rows = (1...6).map { key in
      ("Media", "Z_PK, ZNAME, ZKIND, Z2PICKS", "\(key), 'm', \(2 - key % 2), \(key < 5 ? "1" : "NULL")")
    }
    let store = try RuleStore(media, parts, [("Owner", "Z_PK, ZNAME", "1, 'o'")] + rows)
    let error = try Self.error(store, Self.split)
    #expect(error.code == .refused && error.message.contains("2 links of Owner.picks"), "\(error)")
    var request = try store.request(Self.split)
    request.consent = LossConsent(dropped: ["Owner.picks"])
    let plan = try store.folder.job().plan(request, for: .plan)
    let report = try store.folder.migrate(request)
    let account = try #require(report.accounts.first?.versions.first)
    #expect(plan.accounts.first?.balance == account.balance && account.balance?.contains("2 cleared") == true)
    #expect(report.notes.contains { $0.contains("2 links of Owner.picks") }, "\(report.notes)")
  }

  @Test("Counts of a checkpoint that an earlier version wrote are taken over")
  func earlierCounts() {
    var tally = ContentTally()
    tally.add(changed: ["Media.width lost": 3, "Media.length": 1])
    tally.moveLost()
    #expect(tally.lost == ["Media.width": 3] && tally.changed == ["Media.length": 1])
  }
}
