import Codecs

/// Writes a model as Xcode writes the file `contents` of an `.xcdatamodel` (C.2). Reading it back gives an equal model,
/// but for what ``omissions(of:)`` names.
public struct ModelXMLWriter {
  let xml = XMLText()

  /// The text of the file. Read-only flags and derivation filters, for which Xcode has no field, are written as XML
  /// attributes of our own (`readOnly`, `derivationFilter`); composites without a name get one.
  ///
  /// - Throws: ``BatchError`` with the code `badModel` for texts that XML cannot hold, and for two different composites
  ///   of one name.
  public static func contents(of model: ManagedObjectModel) throws -> String {
    let writer = ModelXMLWriter()
    try writer.write(CompositeNames.applied(to: model))
    return writer.xml.text
  }

  /// What the file format has no place for, one line each: conditions of validation in predicate format, defaults
  /// without a text form, and version identifiers after the first.
  public static func omissions(of model: ManagedObjectModel) -> [String] {
    var lines = model.versionIdentifiers.dropFirst().map { "the version identifier \($0)" }
    for entity in model.entities {
      for attribute in entity.attributes {
        let place = "\(entity.name).\(attribute.name)"
        lines += attribute.validationPredicates.map { "\(place): the condition \($0)" }
        if let value = attribute.defaultValue, DefaultValue.text(value, attribute.type) == nil {
          lines.append("\(place): the default value")
        }
      }
      for relationship in entity.relationships {
        lines += relationship.validationPredicates.map { "\(entity.name).\(relationship.name): the condition \($0)" }
      }
    }
    return lines
  }

  private func write(_ model: ManagedObjectModel) throws {
    // Xcode wrote the identifier first until it began to name the source language.
    let identifier = ("userDefinedModelVersionIdentifier", model.versionIdentifiers.first)
    let isOld = model.unknown["sourceLanguage"] == nil
    var attributes: [(String, String?)] = [("name", model.unknown["name"])] + (isOld ? [identifier] : [])
    attributes += ModelXMLNames.fixed.map { ($0.0, model.unknown[$0.0] ?? $0.1) }
    attributes += ModelXMLNames.settings.map { ($0, model.unknown[$0]) }
    attributes.append(("usedWithCloudKit", yes(model.isUsedWithCloudKit)))
    attributes.append(("usedWithSwiftData", yes(model.isUsedWithSwiftData)))
    if !isOld { attributes.append(identifier) }
    try xml.element("model", attributes: attributes + rest(model.unknown, attributes)) {
      for entity in model.entities.sorted(by: precedes) { try write(entity) }
      for (name, request) in sorted(model.fetchRequestTemplates) { try write(request, name: name) }
      for (name, composite) in sorted(model.composites) { try write(composite, name: name) }
      for (name, members) in sorted(model.configurations) {
        let isCloud = yes(model.cloudKitConfigurations.contains(name))
        try xml.element("configuration", attributes: [("name", name), ("usedWithCloudKit", isCloud)]) {
          for member in members { try xml.element("memberEntity", attributes: [("name", member)]) }
        }
      }
    }
  }

  /// Xcode sorts entities without regard to case.
  private func precedes(_ left: EntityDescription, _ right: EntityDescription) -> Bool {
    let (first, second) = (left.name.lowercased(), right.name.lowercased())
    return first == second ? left.name < right.name : first.utf8.lexicographicallyPrecedes(second.utf8)
  }

  private func write(_ composite: CompositeDescription, name: String) throws {
    try xml.element("composite", attributes: [("name", name)] + rest(composite.unknown, [("name", name)])) {
      for element in composite.elements { try write(element) }
      try write(userInfo: composite.userInfo)
    }
  }

  func write(userInfo entries: [String: String]) throws {
    guard !entries.isEmpty else { return }
    try xml.element("userInfo") {
      for (key, value) in sorted(entries) { try xml.element("entry", attributes: [("key", key), ("value", value)]) }
    }
  }

  func yes(_ flag: Bool) -> String? { flag ? "YES" : nil }

  func word(_ flag: Bool?) -> String? { flag.map { $0 ? "YES" : "NO" } }

  func filled(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }

  func number(_ count: Int) -> String? { count == 0 ? nil : String(count) }

  func sorted<Element>(_ entries: [String: Element]) -> [(key: String, value: Element)] {
    entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  }

  /// Attributes that were not understood when the model was read, after the known ones.
  func rest(_ unknown: [String: String], _ known: [(String, String?)]) -> [(String, String?)] {
    let names = Set(known.map(\.0))
    return sorted(unknown).filter { !names.contains($0.key) }.map { ($0.key, $0.value) }
  }
}
