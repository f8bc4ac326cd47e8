import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import Migrations
@testable import RunSupport

@Suite("Orders of versions")
struct VersionOrderTests {
  private static let versions = VersionPathTests.versions

  private static func path(
    _ order: VersionOrder, _ versions: [ManagedObjectModel] = versions, from: Int = 0, to: Int = 3,
    mappings: [MappingModel] = []
  ) throws -> [String] {
    let steps = try VersionPath.find(
      from: versions[from], to: versions[to], library: VersionPathTests.library(versions), mappings: mappings,
      order: order)
    return steps.map { "\($0.source.name) \($0.destination.name)" }
  }

  private static func identified(_ identifiers: [[String]]) -> [ManagedObjectModel] {
    zip(versions, identifiers).map { version, identifiers in
      var version = version
      version.versionIdentifiers = identifiers
      return version
    }
  }

  @Test("A list names the versions that are passed, also backwards and with gaps")
  func list() throws {
    #expect(try Self.path(.list(["V1", "V3", "V4"])) == ["V1 V3", "V3 V4"])
    #expect(try Self.path(.list(["V4", "M/V2", "V1"]), from: 3, to: 0) == ["V4 V2", "V2 V1"])
    let unknown = #expect(throws: BatchError.self) { try Self.path(.list(["V1", "V9"])) }
    #expect(unknown?.code == .noModel && unknown?.message == "no version is named V9")
    let twice = #expect(throws: BatchError.self) { try Self.path(.list(["V1", "V2", "V1"])) }
    #expect(twice?.message == "the list of versions comes back to V1")
    let outside = #expect(throws: BatchError.self) { try Self.path(.list(["V2", "V4"])) }
    #expect(outside?.code == .noPath)
  }

  @Test("Identifiers that end with numbers give the order, whatever the names say")
  func identifiers() throws {
    let reversed = Self.identified([["Model 12"], ["x", "Model 11"], ["Model 10"], ["Model 9"]])
    #expect(try Self.path(.identifiers, reversed, from: 3, to: 0) == ["V4 V3", "V3 V2", "V2 V1"])
    let gap = Self.identified([["1"], ["2"], ["4"], ["5"]])
    #expect(throws: BatchError.self) { try Self.path(.identifiers, gap) }
    let ambiguous = #expect(throws: BatchError.self) {
      try Self.path(.identifiers, Self.identified([["1"], ["2"], ["2"], ["3"]]))
    }
    #expect(ambiguous?.code == .noModel && ambiguous?.message == "by their identifiers V2 and V3 both follow V1")
    let huge = Self.identified([["9223372036854775807"], ["99999999999999999999"], [""], []])
    #expect(throws: BatchError.self) { try Self.path(.identifiers, huge) }
  }

  @Test("A rule of the caller is asked for each version, and may only name a candidate")
  func rule() throws {
    let skipping = VersionOrder.rule { current, candidates in
      let number = Int(current.name.dropFirst()) ?? 0
      return candidates.first { $0.name == "V\(min(number + 2, 4))" }
    }
    #expect(try Self.path(skipping) == ["V1 V3", "V3 V4"])
    let foreign = VersionPathTests.version(9)
    let error = #expect(throws: BatchError.self) { try Self.path(.rule { _, _ in foreign }) }
    #expect(error?.message == "the rule says that V9 follows V1, which is none of the candidates")
  }

  @Test("A mapping model goes before any order")
  func mapped() throws {
    let mapping = VersionPathTests.mapping("1-4", Self.versions[0], Self.versions[3])
    #expect(try Self.path(.list(["V1", "V2", "V3", "V4"]), mappings: [mapping]) == ["V1 V4"])
  }

  @Test("A version that changes nothing is passed in any order")
  func equalVersions() throws {
    var versions = Self.versions
    versions[1] = ManagedObjectModel(name: "V2", entities: versions[0].entities)
    #expect(try Self.path(.list(["V1", "V2", "V3", "V4"]), versions) == ["V2 V3", "V3 V4"])
    #expect(try Self.path(.list(["V1", "V3", "V4"]), versions) == ["V1 V3", "V3 V4"])
    #expect(try Self.path(.names, versions) == ["V2 V3", "V3 V4"])
  }
}
