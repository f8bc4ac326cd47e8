/// A part of a step that runs from its beginning to its end before the next one begins; a checkpoint names one of them.
package enum StepUnit {
  /// A policy's call before the first object of its mapping.
  case begin(mapping: Int)
  /// Reads one source table once and migrates its rows by these mappings.
  case rows(table: Int, mappings: [Int])
  /// A policy's call after the last object of its mapping.
  case endCreation(mapping: Int)
  /// Writes the rows of a join table.
  case links(LinkUnit)
  /// Copies the rows of a table that the model does not know; the number is that among the carried tables.
  case carried(Int)
  /// Reads one source table again for a policy that makes relationships.
  case relationships(table: Int, mapping: Int)
  /// A policy's call after the last relationship of its mapping.
  case endRelationships(mapping: Int)
  /// A policy's call when all relationships are there.
  case validation(mapping: Int)
  /// A policy's call at the end of the step.
  case end(mapping: Int)
}
