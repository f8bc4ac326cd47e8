/// How models of SwiftData are known.
extension ManagedObjectModel {
  /// Whether SwiftData made the model: sources say so, and models that stores carry have a configuration that Xcode does
  /// not write.
  package var isOfSwiftData: Bool {
    isUsedWithSwiftData || (!entities.isEmpty && configurations["default"]?.count == entities.count)
  }
}

extension AttributeDescription {
  /// The entry of user info that names a default which SwiftData evaluates anew with each build of the schema.
  package static let evaluatedDefault = "godwit.default"

  /// `UUID()` or `Date()`, if the attribute has such a default.
  package var evaluatedDefault: String? {
    defaultValue == nil && (type == .uuid || type == .date) ? userInfo[Self.evaluatedDefault] : nil
  }
}
