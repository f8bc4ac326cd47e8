import Foundation
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import Migrations
@testable import RunSupport

@Suite("Staged migration")
struct StagedMigrationTests {
  private static let versions = VersionPathTests.versions

  private static func steps(
    _ stages: [StagedMigration.Stage], from: Int = 0, to: Int = 3, mappings: [MappingModel] = []
  ) throws -> [MigrationStep] {
    try VersionPath.find(
      from: versions[from], to: versions[to], library: VersionPathTests.library(versions), mappings: mappings,
      order: .stages(StagedMigration(stages: stages)))
  }

  private static func failure(
    _ stages: [StagedMigration.Stage], from: Int = 0, to: Int = 3, mappings: [MappingModel] = []
  ) -> BatchError? {
    #expect(throws: BatchError.self) { try steps(stages, from: from, to: to, mappings: mappings) }
  }

  private static func sums(_ numbers: Int...) -> [String] { numbers.map { versions[$0 - 1].versionChecksum } }

  @Test("A store enters at the stage with its checksum and passes every version from there on")
  func entering() throws {
    let stages = [
      StagedMigration.Stage.lightweight(versionChecksums: Self.sums(1, 2)),
      .lightweight(versionChecksums: Self.sums(3, 4)),
    ]
    #expect(try Self.steps(stages).map(\.destination.name) == ["V2", "V3", "V4"])
    #expect(try Self.steps(stages).allSatisfy(\.isInferred))
    #expect(try Self.steps(stages, from: 2).map(\.reason) == ["stage 2 is lightweight"])
    #expect(try Self.steps(stages, from: 3).isEmpty)
    #expect(try Self.steps([.lightweight(versionChecksums: Self.sums(1, 4))]).map(\.destination.name) == ["V4"])
  }

  @Test("A custom stage is one step by its mapping models; a mapping model goes into no lightweight stage")
  func custom() throws {
    let mappings = [
      VersionPathTests.mapping("a", Self.versions[1], Self.versions[2], ["A"]),
      VersionPathTests.mapping("b", Self.versions[1], Self.versions[2], ["B"]),
      VersionPathTests.mapping("other", Self.versions[1], Self.versions[2]),
      VersionPathTests.mapping("short", Self.versions[0], Self.versions[3]),
    ]
    let stages = [
      StagedMigration.Stage.lightweight(versionChecksums: ["V1", "V2"]),
      .custom(from: "V2", to: Self.sums(3)[0], mappingModels: ["a", "b"]), .lightweight(versionChecksums: ["M/V4"]),
    ]
    let steps = try Self.steps(stages, mappings: mappings)
    #expect(steps.map(\.isInferred) == [true, false, true])
    #expect(steps[1].mappingModels.map(\.name) == ["a", "b"])
    let overlap = Self.failure([.custom(from: "V2", to: "V3")], from: 1, to: 2, mappings: mappings)
    #expect(overlap?.code == .badMapping && overlap?.message.contains("both have AToA") == true)
    let missing = Self.failure(
      [.custom(from: "V2", to: "V3", mappingModels: ["a", "x"])], from: 1, to: 2, mappings: mappings)
    #expect(missing?.message == "stage 1: V2 to V3: no mapping model x fits")
    let none = Self.failure([.custom(from: "V1", to: "V2")], to: 1, mappings: mappings)
    #expect(none?.message == "stage 1: V1 to V2: no mapping model fits")
  }

  @Test("Stages that lead back, do not know the store or name no version are refused, each with its stage")
  func refused() {
    let all = StagedMigration.Stage.lightweight(versionChecksums: Self.sums(1, 2, 3, 4))
    #expect(Self.failure([all], from: 3, to: 1)?.message == "the stages lead from V2 to V4, not back")
    let back = Self.failure([all, .lightweight(versionChecksums: Self.sums(2))])
    #expect(back?.code == .noPath && back?.message == "stage 2 leads back to V2, which stage 1 has passed")
    let unknown = Self.failure([.lightweight(versionChecksums: Self.sums(2, 3, 4))])
    #expect(unknown?.message == "the store's version, V1 with the checksum \(Self.sums(1)[0]), is in no stage")
    #expect(unknown?.hint == "The stages have V2, V3, V4: add a stage that names it")
    let target = Self.failure([.lightweight(versionChecksums: Self.sums(1, 2))])
    #expect(target?.message.hasPrefix("the target, V4 with") == true)
    let reference = Self.failure([all, .custom(from: "V4", to: "gone")])
    #expect(
      reference?.code == .noModel
        && reference?.message.hasPrefix("stage 2 names the version gone, which no model") == true)
    #expect(Self.failure([.custom(from: "V1", to: "V1")])?.message == "stage 1 leads from V1 to itself")
    #expect(Self.failure([])?.code == .badMapping)
  }

  @Test("A lightweight stage that cannot be inferred says which, and that a custom one is needed")
  func impossible() {
    let versions = [VersionPathTests.version(1), VersionPathTests.version(2, type: .date)]
    let error = #expect(throws: BatchError.self) {
      try VersionPath.find(
        from: versions[0], to: versions[1], library: VersionPathTests.library(versions), mappings: [],
        order: .stages(StagedMigration(stages: [.lightweight(versionChecksums: ["V1", "V2"])])))
    }
    #expect(error?.code == .noPath && error?.message.hasPrefix("stage 1: V1 to V2: ") == true)
    #expect(error?.hint == "Make it a custom stage, with a mapping model")
  }

  private static func read(_ text: String) throws -> StagedMigration {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("godwit-stages-\(UUID().uuidString).yaml")
      .path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    return try StagedMigration(path: path)
  }

  @Test("Stages are read from YAML and JSON; what is wrong is named with its line")
  func files() throws {
    let stages = [
      StagedMigration.Stage.lightweight(versionChecksums: ["Model 1", "Model 2"]),
      .custom(from: "Model 2", to: "k0=", mappingModels: ["M2_to_M3"]), .custom(from: "k0=", to: "Model 4"),
    ]
    let yaml = """
      stages:
        - lightweight: [Model 1, Model 2]
        - from: Model 2
          to: k0=
          mappings: [M2_to_M3]
        - { from: k0=, to: Model 4 }
      """
    #expect(try Self.read(yaml).stages == stages)
    let json = #"{"stages": [{"lightweight": ["Model 1", "Model 2"]}]}"#
    #expect(try Self.read(json).stages == [stages[0]])
    let wrong = [
      ("stages: []", "line 1: there are no stages"), ("steps: [a]", "line 1: the file has no key steps"),
      ("stages:\n  - lightweight: V1", "line 2: lightweight has to be a list"),
      ("stages:\n  - from: V1", "line 2: the stage names no versions"),
      ("stages:\n  - lightweight: [V1]\n    to: V2", "line 2: a lightweight stage has nothing else"),
      ("stages:\n  - lightweigth: [V1]", "line 2: a stage has no key lightweigth, did you mean lightweight?"),
    ]
    for (text, message) in wrong {
      let error = #expect(throws: BatchError.self) { try Self.read(text) }
      #expect(error?.code == .badMapping && error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    }
  }
}
