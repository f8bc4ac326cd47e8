import Migrations

/// Remembers what became of the objects that are followed.
final class TraceWatcher: ObjectWatcher {
  private let followed: Set<ObjectTrace.Object>
  private(set) var fates: [ObjectTrace.Object: [ObjectFate]] = [:]

  /// Follows objects of a step's source.
  init(_ objects: [ObjectTrace.Object]) { followed = Set(objects.map(\.place)) }

  func concerns(table: Int) -> Bool { true }

  func tell(_ fate: ObjectFate) {
    let place = ObjectTrace.Object(entity: fate.mapping.source.name, key: fate.key)
    if followed.contains(place) { fates[place, default: []].append(fate) }
  }
}

extension ObjectTrace.Object {
  /// The object, whether its key is exact or not.
  var place: ObjectTrace.Object { .init(entity: entity, key: key) }
}
