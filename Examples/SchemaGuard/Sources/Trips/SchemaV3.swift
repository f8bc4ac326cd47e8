import Foundation
import SwiftData

/// Names are titles, and each trip has an identifier of its own.
enum SchemaV3: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Trip.self, Stop.self] }

  @Model
  final class Trip {
    @Attribute(originalName: "name") var title: String
    var id: UUID = UUID()
    var start: Date?
    var rating: Int = 0
    @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []

    init(title: String) { self.title = title }
  }

  @Model
  final class Stop {
    var place: String
    var trip: Trip?

    init(place: String) { self.place = place }
  }
}
