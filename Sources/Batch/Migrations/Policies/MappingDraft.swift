import MappingModels

/// An entity mapping with what was decided about it: its policy, and how its keys move.
struct MappingDraft {
  /// Its place among the entity mappings of the step.
  var place: Int
  var mapping: EntityMapping
  var source: SourceEntity
  var destination: DestinationEntity
  var offset: Int64
  /// Whether another scan writes to its table before. Then its keys move by the number of those rows, which may be 0.
  var isBehindOthers = false
  var policy: (any EntityMigrationPolicy)?
  var filter: MappingFilter?
}
