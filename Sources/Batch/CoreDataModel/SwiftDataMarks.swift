/// How models of SwiftData are known.
extension ManagedObjectModel {
  /// Whether SwiftData made the model: sources say so, or a store that SwiftData wrote carries it.
  package var isOfSwiftData: Bool { isUsedWithSwiftData || isOfSwiftDataStore }

  /// Marks a model that a store carries as SwiftData's if it has what SwiftData writes there: one configuration, named
  /// `default`, of all entities, and the version of a schema. A bundle may have such a configuration, too, and is none.
  package mutating func markCarried() {
    let identifiers = versionIdentifiers.filter { $0.wholeMatch(of: /[0-9]+\.[0-9]+\.[0-9]+/) != nil }
    isOfSwiftDataStore =
      configurations.count == 1 && configurations["default"]?.count == entities.count && !entities.isEmpty
      && identifiers.count == 1 && versionIdentifiers.count == 1
  }
}

extension AttributeDescription {
  /// The entry of user info that names a default which SwiftData evaluates anew with each build of the schema.
  package static let evaluatedDefault = "godwit.default"

  /// The entry of user info that says where a default is written that sources compute: `File.swift:12`.
  package static let unreadDefault = "godwit.unread"

  /// The entry of user info of an enumeration without raw values: a composite attribute with an element for each case.
  package static let enumeration = "godwit.enumeration"

  /// The place of such a default.
  package var unreadDefault: String? { userInfo[Self.unreadDefault] }

  /// `UUID()` or `Date()`, if the attribute has such a default.
  package var evaluatedDefault: String? {
    defaultValue == nil && (type == .uuid || type == .date) ? userInfo[Self.evaluatedDefault] : nil
  }
}
