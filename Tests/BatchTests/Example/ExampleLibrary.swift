import Foundation

@testable import CoreDataModel
@testable import MappingModels
@testable import Migrations

/// The example of this repository: a model with three versions, and the mapping models between them.
enum ExampleLibrary {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path
  static let folder = root + "/Examples/BookMigration"

  static func models() throws -> ModelLibrary { try ModelLibrary(paths: [folder + "/Library.xcdatamodeld"]) }

  static func version(_ number: Int) throws -> ManagedObjectModel { try models().target(named: "Library \(number)") }

  static func mappings() throws -> [MappingModel] { try MappingModelReader.read(path: folder + "/Mappings") }

  static func path(from source: Int, to destination: Int) throws -> [MigrationStep] {
    try VersionPath.find(
      from: version(source), to: version(destination), library: models(), mappings: mappings())
  }
}
