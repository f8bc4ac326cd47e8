import CoreDataModel

/// A relationship whose inverse is not known yet.
struct RelationshipDraft {
  let name: String
  /// The entity that declares it, as a place in the index.
  let owner: Int
  let destination: Int
  let place: SourcePlace
  var description: RelationshipDescription
  /// What `inverse:` names.
  var inverse: (root: [String], name: String)?
  /// Without `@Relationship`: only then SwiftData looks for the inverse itself.
  var isPlain = true
}
