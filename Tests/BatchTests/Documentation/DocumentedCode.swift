// The code of the articles in Batch.docc, compiled and run: ArticleTests compares it line by line.
import Batch
import BatchTesting
import Foundation
import GRDB
import Testing

struct AuthorPolicy: EntityMigrationPolicy {
  func lookups(for mapping: EntityMapping) -> [Lookup] { [Lookup(entity: "Author", attribute: "name")] }

  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let book = try manager.createDestinationInstance(forSource: source, in: mapping)
    guard let author = try manager.findOrCreate("Author", where: "name", from: source, "authorName") else { return }
    try book.add(author, to: "authors")
  }
}

/// What the articles call.
struct DocumentedCode {
  let store: String
  let model: String
  var mappings: [String] = []
  var show: (_ fraction: Double, _ secondsLeft: Double?) -> Void = { _, _ in }

  func firstMigration() async throws -> MigrationJob.Report {
    let migration = try Migration(of: store, models: [model])
    for await progress in migration.progress { show(progress.fraction, progress.secondsLeft) }
    let report = try await migration.run()
    return report
  }

  func goOn() async throws -> MigrationJob.Report {
    let report = try await Migration(resuming: store).run()
    return report
  }

  func chooseTheWay() async throws -> MigrationJob.Report {
    var request = MigrationJob.Request(source: store, models: [model], mappings: mappings)
    request.target = .version("Library 3")
    request.order = .stages(
      StagedMigration(stages: [
        .custom(from: "Library 1", to: "Library 2", mappingModels: ["Library1_to_Library2"]),
        .custom(from: "Library 2", to: "Library 3"),
      ]))
    let report = try await Migration(request).run()
    return report
  }

  func byRules() async throws -> MigrationJob.Report {
    try await Migration(of: store, models: [model], mappings: mappings).run()
  }

  func decide(_ job: MigrationJob, _ request: MigrationJob.Request, schedule: (String?) -> Void) throws {
    do {
      _ = try job.migrate(request, monitor: RunMonitor())
    } catch let error as BatchError where error.effect == .resumable {
      schedule(error.next.first)
    }
  }

  func handOver(mapping: String) async throws -> MigrationJob.Report {
    let migration = try Migration(of: store, models: [model], mappings: [mapping], policies: [AuthorPolicy.self])
    return try await migration.run()
  }
}

/// Fails when the run has begun.
private struct StrictAuthorPolicy: EntityMigrationPolicy {
  static let className = AuthorPolicy.className

  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws { throw manager.rejection(of: source, "no author is good enough") }
}

@Suite("The test of the article about tests")
final class DocumentedTests {
  private let library: ArticleLibrary
  private var fixture: String { library.store }
  private var model: String { library.model }
  private var mapping: String { library.mapping }

  init() throws { library = try ArticleLibrary() }

  @Test("All books of an author lead to the same object")
  func authors() async throws {
    let store = try await MigratedStore(
      fixture, models: [model], mappings: [mapping], to: "Library 2", policies: [AuthorPolicy.self])
    let book = try store.object("Book", where: "title", is: "Emma")
    let authors = try store.objects("Author", of: "authors", in: book)
    #expect(authors.map { $0["name"] } == ["Jane Austen"])
    #expect(authors[0]["books"].keys.count == 2)
    #expect(try store.count("User") == 1)
  }

  @Test("A run that failed is kept, and its error names the command that leads on")
  func failure() throws {
    var scheduled: [String?] = []
    let job = MigrationJob(policies: PolicyRegistry([StrictAuthorPolicy.self]))
    var request = MigrationJob.Request(source: fixture, models: [model], mappings: [mapping])
    request.target = .version("Library 2")
    try DocumentedCode(store: fixture, model: model).decide(job, request) { scheduled.append($0) }
    #expect(scheduled.count == 1 && scheduled.first??.contains(" clean --all ") == true, "\(scheduled)")
  }
}
