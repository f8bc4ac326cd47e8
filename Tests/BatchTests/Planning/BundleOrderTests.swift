import Foundation
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

@Suite("The order of a bundle's versions, and their names")
struct BundleOrderTests {
  private static func versions(_ names: [String]) -> [ManagedObjectModel] {
    names.enumerated().map { number, name in
      var version = VersionPathTests.version(number + 1)
      version.name = name
      return version
    }
  }

  /// The names of the versions as they are read from a bundle of that name.
  private static func order(_ names: [String], in bundle: String) throws -> [String] {
    let folder = try MigrationFolder([VersionPathTests.version(1)])
    let source = "\(folder.path)/\(bundle).xcdatamodeld"
    let compiled = "\(folder.path)/\(bundle).momd"
    try ModelFiles.write(versions(names), to: source)
    try FileManager.default.createDirectory(atPath: compiled, withIntermediateDirectories: true)
    for version in versions(names) {
      try Data(CompiledModelWriter.write(version).bytes).write(
        to: URL(fileURLWithPath: "\(compiled)/\(version.name).mom"))
    }
    let found = try [source, compiled].map { try ModelReader.read(path: $0)[0].versions.map(\.name) }
    #expect(found[0] == found[1])
    return found[0]
  }

  @Test("Xcode's first version, which has the name of the bundle, comes before numbers and names")
  func first() throws {
    #expect(try Self.order(["10", "Zoo", "2", "3"], in: "Zoo") == ["Zoo", "2", "3", "10"])
    #expect(try Self.order(["Zoo 10", "Zoo 2", "Zoo"], in: "Zoo") == ["Zoo", "Zoo 2", "Zoo 10"])
    #expect(try Self.order(["Zoo", "Alpha", "Zoo 2"], in: "Zoo") == ["Zoo", "Alpha", "Zoo 2"])
    // No version has the name of the bundle, or the bundle's own name has a number.
    #expect(try Self.order(["Model 10", "Model", "Model 2"], in: "Zoo") == ["Model", "Model 2", "Model 10"])
    #expect(try Self.order(["Zoo 3", "Zoo 1", "Zoo 2"], in: "Zoo 2") == ["Zoo 1", "Zoo 2", "Zoo 3"])
  }

  @Test("A version is found by its name, the name of its file, or its identifier, and the name goes first")
  func names() throws {
    var versions = Self.versions(["Zoo", "Zoo 2", "3"])
    versions[0].versionIdentifiers = ["1.0"]
    versions[1].versionIdentifiers = ["3", "2.0"]
    let library = VersionPathTests.library(versions)
    for (name, found) in [
      ("Zoo 2", "Zoo 2"), ("M/Zoo 2", "Zoo 2"), ("2.0", "Zoo 2"), ("1.0", "Zoo"), ("3", "3"),
      ("Zoo 2.xcdatamodel", "Zoo 2"), ("Zoo.mom", "Zoo"),
    ] {
      #expect(try library.target(named: name).name == found, "\(name)")
    }
    versions[0].versionIdentifiers = ["2.0"]
    let error = #expect(throws: BatchError.self) {
      try VersionPathTests.library(versions).target(named: "2.0")
    }
    #expect(error?.message == "2 versions have the identifier 2.0: M/Zoo, M/Zoo 2")
  }

  @Test("A version that is misspelt gets the nearest name, and all versions in their order; many are shortened")
  func nearest() throws {
    let library = VersionPathTests.library(Self.versions(["Zoo", "Zoo 2", "Zoo 3"]))
    let error = #expect(throws: BatchError.self) { try library.target(named: "zo 2") }
    #expect(error?.message == "no version is named zo 2, did you mean Zoo 2?")
    #expect(error?.hint == "Known versions in their order, of M: Zoo, Zoo 2, Zoo 3")
    #expect(error?.description.contains("mean Zoo 2? Known") == true)
    let far = #expect(throws: BatchError.self) { try library.target(named: "Elephant") }
    #expect(far?.message == "no version is named Elephant")
    let many = VersionPathTests.library(Self.versions((1...30).map { "V\($0)" }))
    #expect(many.knownVersions == "Known versions in their order, of M: V1, V2, V3, … 24 more …, V28, V29, V30")
  }

  @Test("If no path leads to the target, the list of versions that does is named")
  func advice() throws {
    func advice(
      _ versions: [ManagedObjectModel], from: Int, to: Int, _ order: VersionOrder = .names
    ) throws -> OrderAdvice? {
      let library = VersionPathTests.library(versions)
      return OrderAdvice(
        from: versions[from], to: versions[to], library: library, mappings: [],
        successors: try order.successors(in: library))
    }
    let plain = Self.versions(["A", "B", "C"])
    let back = try #require(try advice(plain, from: 2, to: 0))
    #expect(back.reason == .back && back.versions == ["C", "B", "A"])
    // By their names C is the last one, by their identifiers it comes before B; B has a type that A's does not become.
    var identified = plain
    identified[1] = VersionPathTests.version(1, type: .binaryData)
    identified[1].name = "B"
    for (index, identifier) in ["1", "3", "2"].enumerated() { identified[index].versionIdentifiers = [identifier] }
    let other = try #require(try advice(identified, from: 0, to: 2))
    #expect(other.reason == .identifiers && other.versions == ["A", "C"])
    for index in identified.indices { identified[index].versionIdentifiers = [] }
    let unknown = try #require(try advice(identified, from: 0, to: 2))
    #expect(unknown.reason == .unknown && unknown.versions == ["A", "B", "C"])
    #expect(try advice(plain, from: 0, to: 2, .list(["A", "B"])) == nil)
  }
}
