/// Numbers and names in compiled models that stand for parts of descriptions (C.4).
enum CompiledNames {
  static let deleteRules: [(number: Int64, rule: RelationshipDescription.DeleteRule)] = [
    (0, .noAction), (1, .nullify), (2, .cascade), (3, .deny),
  ]

  /// The class of an attribute's values that goes without saying.
  static func valueClass(_ type: AttributeType) -> String? {
    switch type {
    case .integer16, .integer32, .integer64, .double, .float, .boolean: return "NSNumber"
    case .decimal: return "NSDecimalNumber"
    case .string: return "NSString"
    case .date: return "NSDate"
    case .binaryData: return "NSData"
    case .uuid: return "NSUUID"
    case .uri: return "NSURL"
    case .objectID: return "NSManagedObjectID"
    case .composite: return "NSDictionary"
    case .undefined, .transformable: return nil
    }
  }
}
