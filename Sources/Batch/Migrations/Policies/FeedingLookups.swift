import Streams

extension LookupTable {
  /// Adds a finished object to every look-up that wants it.
  func addAll(_ object: DestinationObject) throws {
    for place in positions(feeding: object.entity.name) {
      guard let attribute = object.entity.attributes[lookups[place].attribute] else { continue }
      let entry = SpillingMap.Entry(key: object.key, entity: UInt32(object.entity.number))
      if let (type, body) = object.bytes(attribute.position) {
        try add(at: place, type, body: body, entry: entry)
      } else {
        try add(at: place, object.stored(attribute.position), entry)
      }
    }
  }
}
