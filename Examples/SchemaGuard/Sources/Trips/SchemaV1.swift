import Foundation
import SwiftData

/// Shipped in January: it is in schema.lock, and stays as it is.
enum SchemaV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Trip.self] }

  @Model
  final class Trip {
    var name: String
    var start: Date?
    var rating: Int = 0
    var memo: String?

    init(name: String) { self.name = name }
  }
}
