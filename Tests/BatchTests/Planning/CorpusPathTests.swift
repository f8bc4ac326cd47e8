import Foundation
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import Migrations

@Suite("Paths through the versions of real applications", .enabled(if: ModelCorpus.isPresent))
struct CorpusPathTests {
  /// One step of an application, as its author shipped it.
  struct Shipped {
    let from: ManagedObjectModel
    let to: ManagedObjectModel
    let hashes: [[String: [UInt8]]]
    let mapping: String
    let name: String
  }

  static func shipped() throws -> [String: [Shipped]] {
    var steps: [String: [Shipped]] = [:]
    for row in try ModelCorpus.table(ModelCorpus.path("STEPS.tsv")) {
      let bundle = "\(row["repo"] ?? "")/\(row["bundle"] ?? "")"
      let keys = [row["from"], row["to"]].map { "\(bundle)/\($0 ?? "").xcdatamodel" }
      let from = try #require(ModelCorpus.versions[keys[0]])
      let to = try #require(ModelCorpus.versions[keys[1]])
      steps[row["repo"] ?? "", default: []].append(
        Shipped(
          from: from, to: to, hashes: keys.compactMap { ModelCorpus.hashes[$0] },
          mapping: row["explicit_mapping_model"] ?? "", name: "\(bundle) \(from.name)"))
    }
    return steps
  }

  @Test("Every step that was shipped is found: with its mapping model, else by inference")
  func everyStep() throws {
    let mappings = try MappingCorpusTests.models.get()
    var counts = (explicit: 0, inferred: 0)
    var failed: [String] = []
    for (repository, steps) in try Self.shipped() {
      let own = mappings.filter { $0.key.hasPrefix("mappings/\(repository)/") }.sorted { $0.key < $1.key }.map(\.value)
      // A bundle for each step keeps the path from taking another way.
      let library = ModelLibrary(
        bundles: steps.map { ModelBundle(path: $0.name, name: $0.name, versions: [$0.from, $0.to]) },
        hashes: steps.flatMap(\.hashes))
      for step in steps {
        do {
          let path = try VersionPath.find(from: step.from, to: step.to, library: library, mappings: own)
          // Mapping models that could not be obtained leave the step to inference.
          let isInferred = step.mapping.isEmpty || step.mapping.contains("not obtainable")
          if path.count != (step.hashes[0] == step.hashes[1] ? 0 : 1) {
            failed.append("\(step.name): \(path.count) steps")
          }
          for found in path {
            counts.explicit += isInferred ? 0 : 1
            counts.inferred += isInferred ? 1 : 0
            let names = found.mappingModels.map { $0.name + ".xcmappingmodel" }.joined(separator: " + ")
            if found.isInferred != isInferred || (!isInferred && names != step.mapping) {
              failed.append("\(step.name): \(found.reason)")
            }
          }
        } catch { failed.append("\(step.name): \(error)") }
      }
    }
    print("steps: \(counts.explicit) by mapping model, \(counts.inferred) inferred")
    #expect(failed == [])
  }

  /// What can be said of a step without its mapping model.
  enum Verdict: String { case sameHashes, inferable, whileNoValueLacks, impossible }

  @Test("Every step that was shipped without a mapping model can be inferred; figures as in docs/evidence.md")
  func verdicts() throws {
    var names: [String: [String]] = [:]
    for step in try Self.shipped().values.joined() {
      let difference = ModelDifference(from: step.from, to: step.to, hashes: (step.hashes[0], step.hashes[1]))
      let kept = difference.entities.filter { $0.kind != .added && $0.kind != .removed }
      let conditions = kept.flatMap(\.properties).compactMap(\.condition)
      let verdict: Verdict =
        !difference.isInferable
        ? .impossible
        : !difference.changesVersionHashes ? .sameHashes : conditions.isEmpty ? .inferable : .whileNoValueLacks
      names["\(step.mapping.isEmpty ? "inferred" : "mapped"), \(verdict)", default: []].append(step.name)
    }
    for (verdict, steps) in names.sorted(by: { $0.key < $1.key }) where steps.count < 30 {
      print("\(verdict): \(steps.sorted().joined(separator: ", "))")
    }
    #expect(
      names.mapValues(\.count) == [
        "inferred, sameHashes": 9, "inferred, inferable": 274, "inferred, whileNoValueLacks": 1,
        "mapped, inferable": 46,
        "mapped, whileNoValueLacks": 5, "mapped, impossible": 1,
      ])
  }
}
