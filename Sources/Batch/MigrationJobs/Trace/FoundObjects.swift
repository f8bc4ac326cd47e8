extension ObjectTrace {
  /// Adds the relationships that lead elsewhere in the finished store. Of objects whose keys only a whole run knows the
  /// number is compared.
  mutating func compareRelationships() {
    let predicted = predictions
    found = found?.map { object in
      var object = object
      guard object.isThere, let properties = predicted[object.object.place] else { return object }
      for property in object.properties {
        guard let objects = property.objects, let other = properties.first(where: { $0.name == property.name }),
          let expected = other.objects, !Self.agree(objects, expected)
        else { continue }
        object.differing.append(property.name)
      }
      return object
    }
  }

  /// The properties of the objects at the end of the path, as far as the object led to them.
  private var predictions: [Object: [Property]] {
    guard let last = steps.last else { return [object.place: properties] }
    var found: [Object: [Property]] = [:]
    for taking in last.passages.flatMap(\.takings) {
      if let object = taking.object { found[object.place] = taking.properties }
      for made in taking.made { found[made.object.place] = made.properties }
    }
    return found
  }

  private static func agree(_ found: [Object], _ expected: [Object]) -> Bool {
    guard expected.allSatisfy(\.isExact) else { return found.count == expected.count }
    return found.map(\.place) == expected.map(\.place)
  }
}
