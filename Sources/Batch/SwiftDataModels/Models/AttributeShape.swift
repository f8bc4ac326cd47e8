import CoreDataModel

/// What a Swift type becomes in a model.
indirect enum AttributeShape: Sendable, Equatable {
  case plain(AttributeType)
  /// An enumeration with a raw value of the type: a composite of one element with the attribute's own name.
  case raw(AttributeType)
  /// An array of values, kept by a value transformer: its class as Core Data names it.
  case transformed(String)
  /// The elements of a Codable structure, or of an enumeration without raw values, of which each object has one; each
  /// says whether it may be nil.
  case composite([Element], isOfCases: Bool = false)
  /// A class marked with `@Model`, by its place in the index.
  case model(Int, isToMany: Bool)

  struct Element: Sendable, Equatable {
    var name: String
    var shape: AttributeShape
    var isOptional: Bool
  }
}
