import Foundation
import Testing

/// Tests with sources of three versions, and a stage between the last two.
protocol StagedSources {
  var folder: CommandFolder { get }
}

extension StagedSources {
  /// Three versions; `stage` leads from the second to the third. The second one's title is of the type `title`.
  func sources(_ stage: String, title: String = "String") throws -> String {
    func version(_ number: Int, _ members: String) -> String {
      """
      enum V\(number): VersionedSchema {
        static let versionIdentifier = Schema.Version(\(number), 0, 0)
        static var models: [any PersistentModel.Type] { [Book.self] }
        @Model class Book { var title: \(number == 2 ? title : "String")\(members) }
      }

      """
    }
    let text =
      version(1, "") + version(2, "; var id: UUID = UUID(); var at = Date()")
      + version(3, "; var id: UUID = UUID(); var at = Date(); var shout: String = \"\"") + """
        enum Plan: SchemaMigrationPlan {
          static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self, V3.self] }
          static var stages: [MigrationStage] { [.lightweight(fromVersion: V1.self, toVersion: V2.self), last] }
          static let last = \(stage)
        }

        """
    let path = folder.newPath("App")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try text.write(toFile: path + "/Schema.swift", atomically: true, encoding: .utf8)
    return path
  }

  static var custom: String {
    "MigrationStage.custom(fromVersion: V2.self, toVersion: V3.self, willMigrate: nil, didMigrate: { _ in })"
  }
  static var empty: String {
    "MigrationStage.custom(fromVersion: V2.self, toVersion: V3.self, willMigrate: nil, didMigrate: nil)"
  }

  func store(_ sources: String) throws -> String {
    let store = folder.file("Books.store")
    try? FileManager.default.removeItem(atPath: store)
    let made = try folder.run("godwit", ["sample", sources, "--version", "1.0.0", "--rows", "500", "--output", store])
    try #require(made.code == 0, "\(made)")
    return store
  }
}
