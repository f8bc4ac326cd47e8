import Streams
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import Migrations
@testable import RunSupport

/// Mapping models of real applications, made ready for rows between the versions that they were made for.
@Suite("Mapping models of real applications, compiled", .enabled(if: ModelCorpus.isPresent))
struct MappingCompileCorpusTests {
  /// The versions of the same application that have the hashes which a mapping model tells.
  private static func versions(_ folder: String, _ model: MappingModel) -> (ManagedObjectModel, ManagedObjectModel)? {
    let repository = String(folder.dropFirst("mappings/".count).prefix { $0 != "/" })
    func find(_ hashes: [String: [UInt8]]) -> ManagedObjectModel? {
      guard !hashes.isEmpty else { return nil }
      let keys = ModelCorpus.hashes.keys.filter { $0.hasPrefix(repository + "/") }.sorted()
      return keys.first { key in hashes.allSatisfy { ModelCorpus.hashes[key]?[$0.key] == $0.value } }.flatMap {
        ModelCorpus.versions[$0]
      }
    }
    guard let source = find(model.sourceHashes), let destination = find(model.destinationHashes) else { return nil }
    return (source, destination)
  }

  /// Policies of those applications are code that is not here: each is replaced by one that says nothing.
  private struct AnyPolicy: EntityMigrationPolicy {}

  private static func step(_ model: MappingModel, _ versions: (ManagedObjectModel, ManagedObjectModel)) -> MigrationStep
  {
    var model = model
    for index in model.entityMappings.indices where model.entityMappings[index].policyClassName != nil {
      model.entityMappings[index].policyClassName = "AnyPolicy"
    }
    return MigrationStep(
      source: versions.0, destination: versions.1, mappingModels: [model], isInferred: false, reason: "")
  }

  /// DashSync leaves out an entity whose objects may be at the other end of links that it carries over. Core Data drops
  /// those links; here it has to be said.
  private static let refused = [
    "MappingFrom6To7Model: the links of DSAddressEntity.usedInSpecialTransactions may belong to DSBlockchainUserCloseTransactionEntity, which no entity mapping carries over"
  ]

  @Test(
    "Every mapping model and each of its expressions compiles against its versions, but for those that are listed with the reason"
  )
  func compiled() throws {
    var (found, refused): (Int, [String]) = (0, [])
    for (folder, model) in try MappingCorpusTests.models.get().sorted(by: { $0.key < $1.key }) {
      let step = Self.step(model, try #require(Self.versions(folder, model), "the versions of \(folder)"))
      let reader = try EmptyStore.reader(of: step.source)
      let files = StepFiles(prefix: "/nowhere", fileSystem: LocalFileSystem(), budget: .standard)
      do {
        _ = try StepPlan(step: step, reader: reader, policies: PolicyRegistry([AnyPolicy.self]), files: files, now: 0)
        found += try Self.expressions(model)
      } catch let error as BatchError {
        refused.append("\(model.name): \(error.message)")
        // What stands in the way is no expression.
        #expect(try Self.expressions(model) == 0)
      }
    }
    #expect(found == 33)
    #expect(refused == Self.refused)
  }

  private static func expressions(_ model: MappingModel) throws -> Int {
    model.entityMappings.flatMap { $0.attributeMappings + $0.relationshipMappings }.count { $0.valueExpression != nil }
  }
}
