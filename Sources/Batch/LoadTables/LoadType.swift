import CoreDataModel

/// What the values of a column are, whatever a database calls it.
package enum LoadType: Sendable {
  case int16, int32, int64, decimal, double, float, text, boolean, date, uuid, bytes
  /// A transformable value: the archive that it is.
  case archive

  /// The type for an attribute; nil for one that no store holds.
  init?(_ type: AttributeType) {
    switch type {
    case .integer16: self = .int16
    case .integer32: self = .int32
    case .integer64: self = .int64
    case .decimal: self = .decimal
    case .double: self = .double
    case .float: self = .float
    case .string, .uri: self = .text
    case .boolean: self = .boolean
    case .date: self = .date
    case .binaryData: self = .bytes
    case .transformable: self = .archive
    case .uuid: self = .uuid
    case .undefined, .objectID, .composite: return nil
    }
  }
}
