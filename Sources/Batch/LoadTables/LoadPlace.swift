/// Where a column's value is in a row of the source.
package enum LoadPlace: Sendable {
  /// The row's key.
  case key
  /// The name of the object's entity.
  case entityName
  /// A column of the record.
  case record(Int)
}
