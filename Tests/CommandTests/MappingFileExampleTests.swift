import Foundation
import Streams
import Testing

@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport
@testable import StoreSamples

/// Examples/Mappings: each file is run.
@Suite("Mapping files of the examples")
struct MappingFileExampleTests {
  private static let mappings = ExampleFolder.root + "/Examples/Mappings"

  private let folder: ExampleFolder

  init() throws { folder = try ExampleFolder() }

  private func migrate(_ store: String, models: String, mappings: [String], to version: String? = nil) throws
    -> MigrationJob.Report
  {
    var request = MigrationJob.Request(
      source: store, models: [models], mappings: mappings, target: version.map { .version($0) } ?? .current)
    request.interval = .bytes(1 << 16)
    // No policies: that is what plain godwit has.
    return try MigrationJob().migrate(request, monitor: RunMonitor(interval: request.interval))
  }

  private func corpus(_ path: String) throws -> String {
    let store = folder.path + "/" + (path as NSString).lastPathComponent
    for suffix in ["", "-wal"]
    where FileManager.default.fileExists(atPath: "\(ExampleCorpus.root)/stores/\(path)\(suffix)") {
      try FileManager.default.copyItem(atPath: "\(ExampleCorpus.root)/stores/\(path)\(suffix)", toPath: store + suffix)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: store + suffix)
    }
    return store
  }

  private func rows(_ store: String, _ sql: String) throws -> [String] { try ExampleFolder.rows(store, sql) }

  @Test("The library of books becomes the same store, byte for byte, by mapping files as by policies in Swift")
  func library() throws {
    let store = try folder.library(books: 900, users: 40, seed: 5)
    let other = folder.path + "/Other.sqlite"
    try FileManager.default.copyItem(atPath: store, toPath: other)
    _ = try folder.migrate(store, models: ExampleFolder.models, mappings: ExampleFolder.mappings)
    let report = try migrate(other, models: ExampleFolder.models, mappings: [Self.mappings + "/Library"])
    #expect(report.isVerified && report.targetVersion == "Library 3")
    #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == Data(contentsOf: URL(fileURLWithPath: other)))
    #expect(try rows(other, "SELECT count(*) AS n FROM ZFILE") == ["[n:900]"])
  }

  @Test("objc.io's store becomes the same by mapping files as by policies", .enabled(if: ExampleCorpus.isPresent))
  func objcio() throws {
    let name = "objcio+issue-4-core-data-migration"
    let store = try corpus(name + "/Model1.sqlite")
    let other = folder.path + "/Other.sqlite"
    try FileManager.default.copyItem(atPath: store, toPath: other)
    let models = "\(ExampleCorpus.root)/models/\(name)"
    _ = try folder.migrate(store, models: models, mappings: "\(ExampleCorpus.root)/mappings/\(name)")
    _ = try migrate(other, models: models, mappings: [Self.mappings + "/BookMigration"])
    #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == Data(contentsOf: URL(fileURLWithPath: other)))
    #expect(
      try rows(other, "SELECT count(*) AS n FROM ZFILE WHERE ZUSER IS NOT NULL AND ZBOOK IS NOT NULL") == ["[n:4]"])
  }

  @Test("Moody's countries find or make their continents", .enabled(if: ExampleCorpus.isPresent))
  func moody() throws {
    let store = try corpus("objcio+core-data/Moody 5.moody")
    let report = try migrate(
      store, models: "\(ExampleCorpus.root)/models/objcio+core-data/Moody.xcdatamodeld",
      mappings: [Self.mappings + "/Moody5_to_Moody6.yaml"], to: "Moody 6")
    #expect(report.isVerified && report.rows == ["Mood": 4, "Country": 3, "Continent": 2])
    let sql =
      "SELECT c.ZNUMERICISO3166CODE AS c, k.ZNUMERICISO3166CODE AS k FROM ZCOUNTRY c JOIN ZCONTINENT k ON k.Z_PK = c.ZCONTINENT ORDER BY 1"
    #expect(try rows(store, sql) == ["[c:231 k:10004]", "[c:704 k:10005]", "[c:710 k:10004]"])
  }

  @Test("Every post's content becomes a section", .enabled(if: ExampleCorpus.isPresent))
  func posts() throws {
    let name = "wibosco+CoreDataMigrationRevised-Example"
    let store = try corpus(name + "/CoreDataMigration_Example_2.sqlite")
    let report = try migrate(
      store, models: "\(ExampleCorpus.root)/models/\(name)", mappings: [Self.mappings + "/Posts2_to_Posts3.yaml"],
      to: "CoreDataMigration_Example 3")
    #expect(report.isVerified && report.rows == ["Post": 10, "Section": 10])
    let sql =
      "SELECT ZTITLE AS t, ZBODY AS b, ZINDEX AS i FROM ZSECTION s JOIN ZPOST p ON p.Z_PK = s.ZPOST WHERE ZPOSTID = 'FFFECB21-6645-4FDD-B8B0-B960D0E61F5A'"
    #expect(try rows(store, sql) == ["[t:\"Test...\" b:\"Test body\" i:0]"])
  }

  @Test("Names of employees are divided", .enabled(if: ExampleCorpus.isPresent))
  func employees() throws {
    let name = "mwkirk+MWKCoreData"
    let store = try corpus(name + "/MWKCoreDataTests2.sqlite")
    let report = try migrate(
      store, models: "\(ExampleCorpus.root)/models/\(name)",
      mappings: [Self.mappings + "/Employees2_to_Employees3.yaml"],
      to: "MWKCoreDataTests3")
    #expect(report.isVerified && report.rows == ["Dept": 3, "Employee": 3])
    #expect(
      try rows(store, "SELECT ZFIRSTNAME || '/' || ZLASTNAME AS n FROM ZEMPLOYEE ORDER BY 1") == [
        "[n:\"Adam/Smith\"]", "[n:\"Bob/Johnson\"]", "[n:\"Carla/Jones\"]",
      ])
  }

  @Test("Texts of integrations become dates, and each has its parts", .enabled(if: ExampleCorpus.isPresent))
  func integrations() throws {
    let name = "richardpiazza+XCServerCoreData"
    let store = try corpus(name + "/XCServerCoreData_1.2.0.sqlite")
    let before = try rows(store, "SELECT ZSTARTEDTIME AS t, ZSUCCESS_STREAK AS s FROM ZINTEGRATION ORDER BY Z_PK")
    let report = try migrate(
      store, models: "\(ExampleCorpus.root)/models/\(name)", mappings: [Self.mappings + "/XCServer1.2.0_to_2.0.1.yaml"],
      to: "XCServerCoreData2.0.1")
    #expect(report.isVerified && report.rows["Integration"] == 24 && report.rows["Asset"] == 85)
    let dates = "strftime('%Y-%m-%dT%H:%M:%f', ZSTARTEDTIME + 978307200, 'unixepoch') || 'Z'"
    #expect(try rows(store, "SELECT \(dates) AS t, ZSUCCESSSTREAK AS s FROM ZINTEGRATION ORDER BY Z_PK") == before)
    let sql =
      "SELECT count(*) AS n FROM ZINTEGRATION WHERE ZBOT IS NULL OR ZASSETS IS NULL OR ZISSUES IS NULL OR ZBUILDRESULTSUMMARY IS NULL"
    #expect(try rows(store, sql) == ["[n:0]"])
  }

  @Test("An entity whose objects stay behind is empty, and all else is there", .enabled(if: ExampleCorpus.isPresent))
  func categories() throws {
    let models = folder.path + "/WooCommerce.xcdatamodeld"
    try FileManager.default.createDirectory(atPath: models, withIntermediateDirectories: true)
    let all = "\(ExampleCorpus.root)/models/woocommerce+woocommerce-ios/WooCommerce.xcdatamodeld"
    for name in ["Model 26.xcdatamodel", "Model 27.xcdatamodel"] {
      try FileManager.default.copyItem(atPath: "\(all)/\(name)", toPath: "\(models)/\(name)")
    }
    let store = folder.path + "/Shop.sqlite"
    let library = try ModelLibrary(paths: [models])
    try StoreSampler(model: library.target(named: "Model 26"), rows: 3000, seed: 3)
      .write(to: store, fileSystem: LocalFileSystem(), progress: { _ in })
    let products = try rows(store, "SELECT count(*) AS n FROM ZPRODUCT")
    #expect(try rows(store, "SELECT count(*) > 0 AS n FROM ZPRODUCTCATEGORY") == ["[n:1]"])
    let report = try migrate(
      store, models: models, mappings: [Self.mappings + "/WooCommerce26_to_27.yaml"], to: "Model 27")
    #expect(report.isVerified && (report.rows["ProductCategory"] ?? 0) == 0)
    #expect(try rows(store, "SELECT count(*) AS n FROM ZPRODUCT") == products)
  }

  @Test("Every file of the examples can be read")
  func everyOne() throws {
    let names = try MappingModelReader.read(path: Self.mappings).map(\.name).sorted()
    #expect(
      names == [
        "Addresses", "Care1_to_Care2", "Colors", "Employees2_to_Employees3", "Library1_to_Library2",
        "Library2_to_Library3",
        "Milliseconds", "Model1_to_Model2", "Model2_to_Model3", "Moody5_to_Moody6", "Posts2_to_Posts3", "Tags", "Times",
        "Tracks3_to_Tracks4", "Tracks4_to_Tracks5", "WooCommerce26_to_27", "XCServer1.2.0_to_2.0.1",
      ])
  }
}
