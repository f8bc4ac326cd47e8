/// One key of a key path, with its place in the store.
indirect enum PathStep {
  case attribute(StoredAttribute, name: String)
  case toOne(StoredRelationship)
  case toMany(StoredRelationship, name: String)
  /// A collection operator takes the rest of the path.
  case collect(CollectionOperator, [PathStep])

  /// The same step, where an attribute is asked only whether it has a value. That is known of one in a file, too.
  var askingPresence: PathStep {
    guard case .attribute(var attribute, let name) = self else { return self }
    attribute.isExternal = false
    return .attribute(attribute, name: name)
  }
}

/// `@count` and its like.
enum CollectionOperator: String {
  case count, sum, min, max, avg, unionOfObjects, distinctUnionOfObjects, unionOfArrays, distinctUnionOfArrays,
    unionOfSets,
    distinctUnionOfSets
}
