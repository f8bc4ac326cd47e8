import Foundation
import Testing

@testable import CoreDataModel
@testable import MappingModels

@Suite("Difference of real models", .enabled(if: ModelCorpus.isPresent))
struct ModelDifferenceCorpusTests {
  struct Step {
    let name: String
    let row: [String: String]
    let difference: ModelDifference
    let source: ManagedObjectModel
    let destination: ManagedObjectModel
    let hashes: (source: [String: [UInt8]], destination: [String: [UInt8]])
  }

  static let steps: Result<[Step], any Error> = Result {
    try ModelCorpus.table(ModelCorpus.path("STEPS.tsv")).compactMap { row in
      let folder = "\(row["repo"] ?? "")/\(row["bundle"] ?? "")"
      let keys = ["from", "to"].map { "\(folder)/\(row[$0] ?? "").xcdatamodel" }
      guard let source = ModelCorpus.versions[keys[0]], let destination = ModelCorpus.versions[keys[1]] else {
        return nil
      }
      let hashes = (ModelCorpus.hashes[keys[0]] ?? [:], ModelCorpus.hashes[keys[1]] ?? [:])
      return Step(
        name: keys.joined(separator: " to "), row: row,
        difference: ModelDifference(from: source, to: destination, hashes: hashes), source: source,
        destination: destination, hashes: hashes)
    }
  }

  @Test("A facet is marked as hashed exactly where an entity's hash changes")
  func hashes() throws {
    var (pairs, changed) = (0, 0)
    for step in try Self.steps.get() {
      let (old, new) = step.hashes
      let differences = Dictionary(
        uniqueKeysWithValues: step.difference.entities.compactMap { entity in entity.destination.map { ($0, entity) } })
      for entity in step.destination.entities {
        let difference = differences[entity.name]
        guard difference?.kind != .added else { continue }
        pairs += 1
        let isMarked = difference?.changesVersionHash ?? false
        if isMarked { changed += 1 }
        #expect(isMarked == (old[difference?.source ?? entity.name] != new[entity.name]), "\(step.name) \(entity.name)")
      }
      #expect(step.difference.changesVersionHashes == (old != new), "\(step.name)")
    }
    let count = try Self.steps.get().count
    print("\(count) steps, \(pairs) pairs of entities, \(changed) with another hash")
    #expect(count == 336 && pairs == 9_915 && changed == 580)
  }

  @Test("The verdict on a step is that of inference")
  func verdicts() throws {
    var inferable = 0
    for step in try Self.steps.get() {
      let model = try? MappingModel.inferred(
        from: step.source, to: step.destination, sourceHashes: step.hashes.source,
        destinationHashes: step.hashes.destination)
      #expect(step.difference.isInferable == (model != nil), "\(step.name)")
      if step.difference.isInferable { inferable += 1 }
    }
    print("\(inferable) of \(try Self.steps.get().count) steps can be inferred")
    #expect(inferable == 335)
  }

  @Test("Entities that came and went are those of the table of steps")
  func entities() throws {
    for step in try Self.steps.get() {
      for (column, kind) in [("ent_add", ChangeKind.added), ("ent_del", .removed), ("ent_ren", .renamed)] {
        let names = step.difference.entities.filter { $0.kind == kind }.map { $0.destination ?? $0.source ?? "" }
        let table = (step.row[column] ?? "").split(separator: " ").map {
          $0.split(separator: ">").last.map(String.init) ?? ""
        }
        #expect(names.sorted() == table.sorted(), "\(step.name) \(column)")
      }
    }
  }
}
