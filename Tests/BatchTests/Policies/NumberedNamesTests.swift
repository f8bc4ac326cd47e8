import Foundation
import Synchronization
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

/// Texts that are numbered instead of looked up: the store is the same, byte for byte.
@Suite("Numbered names")
struct NumberedNamesTests {
  private static func versions() -> [ManagedObjectModel] {
    let old = ManagedObjectModel(
      name: "N1",
      entities: [
        StoreModels.entity("Work", [("year", .integer32)]),
        StoreModels.entity(
          "Book", parent: "Work", [("title", .string), ("author", .string), ("publisher", .string)]),
        StoreModels.entity("Review", [("author", .string)]),
      ])
    let new = ManagedObjectModel(
      name: "N2",
      entities: [
        StoreModels.entity("Work", [("year", .integer32)]),
        StoreModels.entity(
          "Book", parent: "Work", [("title", .string)],
          [
            StoreModels.link("authors", "Author", "books", many: true),
            StoreModels.link("publishers", "Publisher", "books", many: true),
          ]),
        StoreModels.entity(
          "Author", [("name", .string)],
          [
            StoreModels.link("books", "Book", "authors", many: true),
            StoreModels.link("reviews", "Review", "author", many: true),
          ]),
        StoreModels.entity("Review", [], [StoreModels.link("author", "Author", "reviews")]),
        StoreModels.entity(
          "Publisher", [("name", .string)], [StoreModels.link("books", "Book", "publishers", many: true)]),
      ])
    return [old, new]
  }

  /// Ends with what is said of reviews.
  private static let mapping = """
    from: N1
    to: N2
    entities:
      - Work
      - to: Author
      - to: Publisher
      - from: Book
        objects:
          - findOrCreate: Author
            by: { name: $source.author }
            link: authors
          - findOrCreate: Publisher
            by: { name: $source.publisher }
            link: publishers
      - from: Review

    """

  private let folder: MigrationFolder

  init() throws {
    folder = try MigrationFolder(Self.versions(), policies: [AuthorFindingPolicy.self])
    try Data(Self.mapping.utf8).write(to: URL(fileURLWithPath: "\(folder.path)/N.yaml"))
    let finding = Self.mapping.replacing("- from: Review\n", with: "- from: Review\n    policy: AuthorFindingPolicy\n")
    try Data(finding.utf8).write(to: URL(fileURLWithPath: "\(folder.path)/Finding.yaml"))
  }

  /// A store of several pages; `authors` are values in SQL that some of its books get.
  private func store(seed: UInt64, authors: [String] = []) throws -> String {
    let store = try folder.sample("N1", rows: 5000, seed: seed)
    var random = SeededRandom(seed)
    // SQL writes titles that no recipe takes: such rows need objects.
    try MigrationFolder.execute(
      store,
      """
      UPDATE ZWORK SET ZAUTHOR = 'author ' || (Z_PK * 7919 % \(Int.random(in: 2...4000, using: &random))),
        ZPUBLISHER = CASE Z_PK % 5 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE 'Verlag é' || (Z_PK % 333) END
        WHERE Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book');
      UPDATE ZWORK SET ZTITLE = 17 WHERE Z_PK % 97 = 3 AND ZAUTHOR IS NOT NULL;
      UPDATE ZWORK SET ZTITLE = printf('%.20000c', 'x') WHERE Z_PK % 971 = 5 AND ZAUTHOR IS NOT NULL;
      """)
    for value in authors {
      let rest = Int.random(in: 0..<500, using: &random)
      try MigrationFolder.execute(
        store, "UPDATE ZWORK SET ZAUTHOR = \(value) WHERE Z_PK % 500 = \(rest) AND ZAUTHOR IS NOT NULL")
    }
    return store
  }

  private func request(_ store: String, _ name: String, by file: String = "N.yaml") throws -> MigrationJob.Request {
    var request = folder.request(store, output: try folder.place(name))
    request.mappings = ["\(folder.path)/\(file)"]
    return request
  }

  private func migrated(_ store: String, _ name: String, by file: String = "N.yaml") throws -> Data {
    let request = try request(store, name, by: file)
    #expect(try folder.migrate(request).isVerified)
    return try MigrationFolder.bytes(request.output ?? "")
  }

  @Test("I8: numbered names and look-ups give the same bytes", arguments: 1...4)
  func sameBytes(seed: UInt64) throws {
    let store = try store(seed: seed)
    let expected = try migrated(store, "looked")
    let trial = Trial()
    let found = try NumberedNames.$trial.withValue(trial.decide) { try migrated(store, "numbered") }
    #expect(found == expected, "seed \(seed)")
    #expect(trial.numbered == 2)
  }

  @Test("I8: names that a policy finds later, because it reads their entity, are looked up and not numbered")
  func foundLater() throws {
    let store = try store(seed: 3)
    try MigrationFolder.execute(store, "UPDATE ZREVIEW SET ZAUTHOR = 'author ' || (Z_PK * 7919 % 50)")
    let expected = try migrated(store, "looked", by: "Finding.yaml")
    let trial = Trial()
    let found = try NumberedNames.$trial.withValue(trial.decide) {
      try migrated(store, "numbered", by: "Finding.yaml")
    }
    #expect(found == expected)
    // Publishers, which the policy does not read, are numbered.
    #expect(trial.numbered == 1)
  }

  @Test(
    "I8: where a name is no text, or is not in its row, look-ups go on",
    arguments: ["x'0102'", "CAST(x'41ff42' AS TEXT)", "printf('%.20000c', 'x')"])
  func otherValues(value: String) throws {
    let store = try store(seed: 9, authors: [value])
    let expected = try migrated(store, "looked")
    let trial = Trial()
    let found = try NumberedNames.$trial.withValue(trial.decide) { try migrated(store, "numbered") }
    #expect(found == expected)
    // Publishers are numbered nevertheless.
    #expect(trial.numbered == 1)
  }

  @Test(
    "I5, I8: stopped anywhere and resumed, a run with numbered names has the undisturbed bytes",
    arguments: [true, false])
  func stopped(fits: Bool) throws {
    let store = try store(seed: 5)
    let expected = try migrated(store, "looked")
    let trial = Trial()
    let stops = try NumberedNames.$trial.withValue(trial.decide) {
      try folder.stopped(every: 3) { count in
        trial.fits = true
        var request = try request(store, "stopped-\(count)")
        request.verification = .none
        return request
      } then: { _ in
        trial.fits = fits
      } finished: { path, count in
        let found = try MigrationFolder.bytes(path)
        #expect(found == expected, "stop \(count)")
      }
    }
    #expect(stops > 5)
    #expect(trial.numbered > 10 && fits == (trial.caughtUp == 0))
  }

  @Test("I5, I8: a run with numbered names that is resumed with rejects has the undisturbed bytes")
  func resumedWithRejects() throws {
    let store = try store(seed: 6)
    let expected = try migrated(store, "looked")
    let trial = Trial()
    try NumberedNames.$trial.withValue(trial.decide) {
      for count in [5, 9, 14, 21] {
        let (request, stop) = (try request(store, "rejects-\(count)"), StopAfter(count))
        do {
          _ = try folder.job().migrate(request, monitor: stop.monitor(request.interval))
        } catch let error as BatchError where error.code == .stopped {
          _ = try folder.job().resume(request.output ?? "", rejects: RejectLimit(.count(10))) {
            RunMonitor(interval: $0)
          }
        }
        let found = try MigrationFolder.bytes(request.output ?? "")
        #expect(found == expected, "stop \(count)")
      }
    }
    #expect(trial.caughtUp > 0)
  }
}

/// Finds the author of a review; it declares no look-up, as it reads finished authors.
private struct AuthorFindingPolicy: EntityMigrationPolicy {
  func reads(for mapping: EntityMapping) -> [String] { ["Author"] }
  func writes(for mapping: EntityMapping) -> [String] { ["Review"] }

  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let review = try manager.createDestinationInstance(forSource: source, in: mapping)
    guard let author = try manager.find("Author", where: "name", is: source.value("author")) else { return }
    try review.set("author", to: author)
  }
}

/// Begins to number names at the first page, and counts.
private final class Trial: Sendable {
  private let state = Mutex((fits: true, numbered: 0, caughtUp: 0))

  var fits: Bool {
    get { state.withLock { $0.fits } }
    set { state.withLock { $0.fits = newValue } }
  }
  var numbered: Int { state.withLock { $0.numbered } }
  var caughtUp: Int { state.withLock { $0.caughtUp } }

  @Sendable func decide(_ moment: NumberedNames.Moment) -> Bool {
    state.withLock { state in
      switch moment {
      case .filling: return true
      case .numbering:
        if state.fits { state.numbered += 1 }
        return state.fits
      case .catchingUp:
        state.caughtUp += 1
        return true
      }
    }
  }
}
