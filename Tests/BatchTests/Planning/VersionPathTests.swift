import Streams
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import Migrations
@testable import RunSupport

@Suite("Version paths")
struct VersionPathTests {
  /// Versions with one entity A that gains an attribute each, and an entity B that never changes.
  static func version(_ number: Int, type: AttributeType = .string) -> ManagedObjectModel {
    let attributes = (0..<number).map { AttributeDescription(name: "a\($0)", type: type) }
    return ManagedObjectModel(
      name: "V\(number)", entities: [InferenceTests.entity("A", attributes), InferenceTests.entity("B")])
  }

  static func library(_ versions: [ManagedObjectModel], current: String? = nil) -> ModelLibrary {
    ModelLibrary(bundles: [ModelBundle(path: "M", name: "M", versions: versions, currentVersion: current)])
  }

  static func mapping(
    _ name: String, _ from: ManagedObjectModel, _ to: ManagedObjectModel, _ entities: [String] = ["A", "B"]
  ) -> MappingModel {
    var model = MappingModel(
      name: name, entityMappings: entities.map { EntityMapping(sourceEntity: $0, destinationEntity: $0) })
    model.sourceHashes = from.versionHashes.filter { entities.contains($0.key) }
    model.destinationHashes = to.versionHashes.filter { entities.contains($0.key) }
    (model.sourceModelName, model.destinationModelName) = (from.name, to.name)
    return model
  }

  static let versions = (1...4).map { version($0) }

  @Test("Trap 19: inference goes from version to version, forward only")
  func inferred() throws {
    let library = Self.library(Self.versions)
    let path = try VersionPath.find(from: Self.versions[0], to: Self.versions[3], library: library, mappings: [])
    #expect(path.map(\.source.name) == ["V1", "V2", "V3"] && path.map(\.destination.name) == ["V2", "V3", "V4"])
    #expect(path.allSatisfy { $0.isInferred && $0.mappingModels.count == 1 })
    #expect(try VersionPath.find(from: Self.versions[1], to: Self.versions[1], library: library, mappings: []) == [])
    let error = #expect(throws: BatchError.self) {
      try VersionPath.find(from: Self.versions[3], to: Self.versions[0], library: library, mappings: [])
    }
    #expect(error?.code == .noPath)
  }

  @Test("Trap 19: versions with the same hashes are one to a store: the path passes them once, and ends at either")
  func repeated() throws {
    let (v1, v2, v3) = (Self.versions[0], Self.versions[1], Self.versions[2])
    var again = v2
    again.name = "V2 again"
    let library = Self.library([v1, v2, again, v3])
    let path = try VersionPath.find(from: v1, to: v3, library: library, mappings: [])
    #expect(path.first?.source.name == "V1" && path.last?.destination.name == "V3")
    #expect(
      path.count { $0.source.versionHashes == $0.destination.versionHashes } == 0, "\(path.map(\.destination.name))")
    #expect(try VersionPath.find(from: v2, to: again, library: library, mappings: []).isEmpty)
    let mapped = try VersionPath.find(from: v1, to: v3, library: library, mappings: [Self.mapping("1-2", v1, v2)])
    #expect(mapped.first?.isInferred == false && mapped.last?.destination.name == "V3")
  }

  @Test("A mapping model goes before inference, also backward, and a shorter path before a longer one")
  func explicit() throws {
    let (v1, v2, v4) = (Self.versions[0], Self.versions[1], Self.versions[3])
    let library = Self.library(Self.versions)
    let mappings = [Self.mapping("1-2", v1, v2), Self.mapping("2-4", v2, v4), Self.mapping("4-1", v4, v1)]
    let path = try VersionPath.find(from: v1, to: v4, library: library, mappings: mappings)
    #expect(path.flatMap(\.mappingModels).map(\.name) == ["1-2", "2-4"])
    #expect(path.allSatisfy { !$0.isInferred })
    let back = try VersionPath.find(from: v2, to: v1, library: library, mappings: mappings)
    #expect(back.flatMap(\.mappingModels).map(\.name) == ["2-4", "4-1"])
  }

  @Test("Mapping models of disjoint parts make up one step")
  func parts() throws {
    let (v1, v2) = (Self.versions[0], Self.versions[1])
    let mappings = [Self.mapping("a", v1, v2, ["A"]), Self.mapping("b", v1, v2, ["B"])]
    let path = try VersionPath.find(from: v1, to: v2, library: Self.library([v1, v2]), mappings: mappings)
    #expect(path.count == 1 && path[0].mappingModels.map(\.name) == ["a", "b"])
  }

  @Test("A gap is named, not filled by inference; so are two mapping models that do the same")
  func gapsAndOverlaps() throws {
    let (v1, v2) = (Self.versions[0], Self.versions[1])
    let library = Self.library([v1, v2])
    let gap = #expect(throws: BatchError.self) {
      try VersionPath.find(from: v1, to: v2, library: library, mappings: [Self.mapping("a", v1, v2, ["A"])])
    }
    #expect(gap?.code == .badMapping && gap?.message.contains("V1 to V2: the mapping model a does not name B") == true)
    let overlap = #expect(throws: BatchError.self) {
      try VersionPath.find(
        from: v1, to: v2, library: library, mappings: [Self.mapping("x", v1, v2), Self.mapping("y", v1, v2, ["B"])])
    }
    #expect(overlap?.message.contains("the mapping models x and y both have BToB") == true)
  }

  @Test("A mapping model without hashes is found by the names of its versions and entities")
  func names() throws {
    let (v1, v2) = (Self.versions[0], Self.versions[1])
    var mapping = Self.mapping("named", v1, v2)
    (mapping.sourceHashes, mapping.destinationHashes) = ([:], [:])
    let path = try VersionPath.find(from: v1, to: v2, library: Self.library([v1, v2]), mappings: [mapping])
    #expect(path.flatMap(\.mappingModels).map(\.name) == ["named"])
  }

  @Test("A step that is impossible is named with the reason, and so is a mapping model that fits nothing")
  func impossible() throws {
    let (v1, other) = (Self.version(1), Self.version(2, type: .date))
    let stale = Self.mapping("stale", Self.version(3), other)
    let error = #expect(throws: BatchError.self) {
      try VersionPath.find(from: v1, to: other, library: Self.library([v1, other]), mappings: [stale])
    }
    #expect(error?.code == .noPath)
    #expect(error?.message.contains("V1 to V2: no mapping model can be inferred") == true)
    #expect(error?.message.contains("A.a0: the type changed from string to date") == true)
    #expect(error?.message.contains("the mapping model stale, made for V3 to V2, fits no two versions") == true)
  }

  @Test("Trap 19: a source that no bundle holds is inferred to the target directly")
  func foreignSource() throws {
    let path = try VersionPath.find(
      from: Self.version(2), to: Self.versions[3], library: Self.library([Self.versions[3]]), mappings: [])
    #expect(path.count == 1 && path[0].isInferred)
  }

  @Test("The target is the version named, else the current one, else the last; errors name the known ones")
  func target() throws {
    #expect(try Self.library(Self.versions).target(named: nil).name == "V4")
    #expect(try Self.library(Self.versions, current: "V2").target(named: nil).name == "V2")
    #expect(try Self.library(Self.versions).target(named: "M/V3").name == "V3")
    let error = #expect(throws: BatchError.self) { try Self.library(Self.versions).target(named: "V9") }
    #expect(error?.code == .noModel && error?.hint == "Known versions in their order, of M: V1, V2, V3, V4")
  }

  @Test(
    "The chain of BookMigration is two steps, the second of two mapping models", .enabled(if: ModelCorpus.isPresent))
  func bookMigration() throws {
    let repository = "objcio+issue-4-core-data-migration"
    let library = try ModelLibrary(paths: [ModelCorpus.path("models/\(repository)")])
    let mappings = try MappingModelReader.read(path: ModelCorpus.path("mappings/\(repository)"))
    let source = try #require(library.version(named: "Model1"))
    let path = try VersionPath.find(from: source, to: library.target(named: nil), library: library, mappings: mappings)
    #expect(path.map(\.destination.name) == ["Model2", "Model3"] && path.allSatisfy { !$0.isInferred })
    #expect(path[0].mappingModels.map(\.name) == ["Model1_to_Model2"])
    #expect(path[1].mappingModels.map(\.name) == ["Model2_to_Model3", "Model2_to_Model3_User"])
    let last = path[1].mappingModels.flatMap(\.entityMappings)
    #expect(last.map(\.name) == ["File", "BookToBook", "AuthorToAuthor", "UserToUser"])
    #expect(last[1].policyClassName == "MHWBookToBookPolicy" && last[1].userInfo == ["modelVersion": "3"])
    #expect(path[0].mappingModels[0].entityMappings.contains { $0.userInfo == ["modelVersion": "2"] })
  }
}
