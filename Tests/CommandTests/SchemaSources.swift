import Foundation

/// Versions of a schema of SwiftData, as an application declares them.
struct SchemaSources {
  static let first = "var title: String; var rating: Int; var subtitle: String?"
  static let second = "var title: String; var rating: Int; var pages: Int = 0"

  /// The folder, beside which its lock is.
  let path: String
  var file: String { path + "/Schema.swift" }
  var lock: String { (path as NSString).deletingLastPathComponent + "/schema.lock" }

  /// Sources of these versions: the stored properties of the class Book in each.
  init(_ path: String, _ versions: [String]) throws {
    self.path = path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try write(versions)
  }

  func write(_ versions: [String]) throws {
    let schemas = versions.enumerated().map { place, members in
      """
      enum SchemaV\(place + 1): VersionedSchema {
        static let versionIdentifier = Schema.Version(\(place + 1), 0, 0)
        static var models: [any PersistentModel.Type] { [Book.self] }
        @Model class Book {
          \(members.replacing("; ", with: "\n    "))
        }
      }

      """
    }
    try schemas.joined().write(toFile: file, atomically: true, encoding: .utf8)
  }
}
