/// One key of a key path, with its place in the store.
indirect enum PathStep {
  case attribute(StoredAttribute, name: String)
  case toOne(StoredRelationship)
  case toMany(StoredRelationship, name: String)
  /// A collection operator takes the rest of the path.
  case collect(CollectionOperator, [PathStep])
}

/// `@count` and its like.
enum CollectionOperator: String {
  case count, sum, min, max, avg, unionOfObjects, distinctUnionOfObjects, unionOfArrays, distinctUnionOfArrays,
    unionOfSets,
    distinctUnionOfSets
}
