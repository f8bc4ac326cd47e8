import MappingModels

/// An entity mapping with what was decided about it: its policy, and how its keys move. A plan reads its drafts often,
/// so that they are not copied.
final class MappingDraft {
  /// Its place among the entity mappings of the step.
  let place: Int
  let mapping: EntityMapping
  let source: SourceEntity
  let destination: DestinationEntity
  let policy: (any EntityMigrationPolicy)?
  let filter: MappingFilter?
  /// How far its keys move: all scans are known before.
  private(set) var offset: Int64 = 0
  /// Whether another scan writes to its table before. Then its keys move by the number of those rows, which may be 0.
  private(set) var isBehindOthers = false

  init(
    place: Int, mapping: EntityMapping, source: SourceEntity, destination: DestinationEntity,
    policy: (any EntityMigrationPolicy)?, filter: MappingFilter?
  ) {
    (self.place, self.mapping, self.source, self.destination) = (place, mapping, source, destination)
    (self.policy, self.filter) = (policy, filter)
  }

  /// Says how its keys move.
  func moveKeys(by offset: Int64, behindOthers: Bool) { (self.offset, isBehindOthers) = (offset, behindOthers) }
}
