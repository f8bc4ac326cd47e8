import Foundation
import GRDB
import Streams
import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import RunSupport
@testable import StoreExports
@testable import StoreSamples
@testable import StoreVerification

/// Makes excerpts of a store.
struct ExcerptMaker {
  let store: String
  let model: ManagedObjectModel

  /// Makes one and verifies it.
  func excerpt(
    _ path: String, _ entity: String? = nil, where condition: String? = nil, limit: UInt64,
    memory: MemoryBudget = .standard
  ) throws -> StoreExcerpt.Summary {
    let reader = try StoreExport.open(store, LocalFileSystem())
    defer { reader.close() }
    var options = StoreExcerpt.Options(limit: limit)
    (options.entity, options.condition, options.memory) = (entity, condition, memory)
    return try StoreExcerpt(reader, model: model, options: options, fileSystem: LocalFileSystem()).write(to: path)
  }

  func violations(_ path: String) throws -> [Violation] {
    try StoreVerifier(path: path, model: model).verify(mode: .full).violations
  }
}

@Suite("Excerpts of stores")
struct ExcerptTests {
  @Test(
    "Of stores of every shape an excerpt has what SQL takes, with every link between its objects, and is sound",
    arguments: SampleModels.all)
  func shapes(model: ManagedObjectModel) throws {
    let sample = try SampleTestStore(model, rows: 6000, seed: 7)
    let maker = ExcerptMaker(store: sample.path, model: model)
    for limit in [0, 1, 30, 700, 100_000] {
      let path = "\(sample.folder)/Excerpt \(limit).sqlite"
      let summary = try maker.excerpt(path, limit: UInt64(limit))
      let oracle = try ExcerptOracle(sample.path, excerpt: path, model: model)
      #expect(try oracle.problems(limit: limit) == [], "\(model.name), limit \(limit)")
      #expect(try maker.violations(path) == [], "\(model.name), limit \(limit)")
      #expect(summary.objects.values.reduce(0) { $0 + $1.inStore } == 6000)
      if limit == 0 { #expect(summary.objects.values.allSatisfy { $0.taken == 0 }) }
      if limit == 100_000 {
        #expect(summary.objects.values.allSatisfy { $0.taken == $0.inStore && $0.led == 0 } && summary.leftOut.isEmpty)
      }
    }
  }

  @Test("The first objects of an entity that fulfil a condition are taken, and what they lead to")
  func condition() throws {
    let model = SampleModels.hierarchy()
    let sample = try SampleTestStore(model, rows: 3000, seed: 3)
    let maker = ExcerptMaker(store: sample.path, model: model)
    for entity in model.entities.map(\.name) {
      let path = "\(sample.folder)/\(entity).sqlite"
      let summary = try maker.excerpt(path, entity, where: "Z_PK > 400", limit: 25)
      let oracle = try ExcerptOracle(sample.path, excerpt: path, model: model)
      #expect(try oracle.problems(entity, where: "Z_PK > 400", limit: 25) == [], "\(entity)")
      let asked = summary.objects.values.reduce(0) { $0 + $1.taken - $1.led }
      #expect(asked <= 25, "\(entity)")
    }
  }

  @Test("The same excerpt has the same bytes, whatever the memory, and one that needs more is refused without a trace")
  func repeatable() throws {
    let model = SampleModels.hierarchy()
    let sample = try SampleTestStore(model, rows: 20_000, seed: 3)
    let maker = ExcerptMaker(store: sample.path, model: model)
    let paths = (1...3).map { "\(sample.folder)/\($0).sqlite" }
    let first = try maker.excerpt(paths[0], limit: 900)
    #expect(try maker.excerpt(paths[1], limit: 900, memory: MemoryBudget(total: 1 << 30)) == first)
    #expect(try maker.excerpt(paths[2], limit: 900, memory: MemoryBudget(total: 0)) == first)
    let bytes = try paths.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
    #expect(bytes[0] == bytes[1] && bytes[0] == bytes[2])
    #expect(throws: BatchError.self) { try maker.excerpt(paths[0], limit: 900) }
    #expect(try Data(contentsOf: URL(fileURLWithPath: paths[0])) == bytes[0])
    #expect(throws: BatchError.self) { try maker.excerpt("\(sample.folder)/4.sqlite", "Nobody", limit: 1) }
    #expect(throws: BatchError.self) {
      try maker.excerpt("\(sample.folder)/4.sqlite", "Item", where: "nothing = 1", limit: 1)
    }
    #expect(try LocalFileSystem().list(sample.folder) == ["1.sqlite", "2.sqlite", "3.sqlite", "Sample.sqlite"])
  }
}

@Suite("Excerpts of the stores of real applications", .enabled(if: ModelCorpus.isPresent, "no corpus (GODWIT_CORPUS)"))
struct ExcerptCorpusTests {
  @Test("Of every store with a known model an excerpt has what SQL takes, and no fault that the store has not")
  func all() throws {
    var (made, objects, unknown, refused) = (0, UInt64(0), 0, [String]())
    for entry in try StoreCorpus.stores() {
      let folder = try SampleTestStore.makeFolder()
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let store = folder + "/Store.sqlite"
      try StoreCorpus.copy(entry, to: store)
      guard let model = try? Self.model(store) else {
        unknown += 1
        continue
      }
      let maker = ExcerptMaker(store: store, model: model)
      for limit in [3, 100_000] {
        let path = "\(folder)/Excerpt \(limit).sqlite"
        do {
          objects += try maker.excerpt(path, limit: UInt64(limit)).objects.values.reduce(0) { $0 + $1.taken }
        } catch let error as BatchError {
          refused.append("\(entry.path): \(error.message)")
          continue
        }
        let problems = try ExcerptOracle(store, excerpt: path, model: model).problems(limit: limit)
        #expect(problems == [], "\(entry.path), limit \(limit)")
        let kinds = Set(try maker.violations(path).map(\.kind)).subtracting(try maker.violations(store).map(\.kind))
        #expect(kinds.subtracting([.externalData]) == [], "\(entry.path), limit \(limit)")
        made += 1
      }
    }
    print("excerpts: \(made) of \(objects) objects; \(unknown) stores without model; refused: \(refused)")
    #expect(made > 80)
  }

  private static func model(_ path: String) throws -> ManagedObjectModel? {
    let reader = try StoreReader(path: path, fileSystem: LocalFileSystem(), locking: .shared)
    defer { reader.close() }
    let hashes = reader.metadata.versionHashes
    return ModelCorpus.hashes.first { $0.value == hashes }.flatMap { ModelCorpus.versions[$0.key] }
  }
}
