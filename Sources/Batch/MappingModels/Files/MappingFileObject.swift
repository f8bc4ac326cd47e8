/// The objects of a mapping file and their keys: the reader, its messages and the JSON Schema know the same ones.
package struct MappingFileObject {
  /// How messages name it.
  package let title: String
  /// Its definition in the JSON Schema.
  package let definition: String
  package let keys: [String]

  package init(title: String, definition: String, keys: [String]) {
    self.title = title
    self.definition = definition
    self.keys = keys
  }

  /// Whether its keys are read each by itself.
  var isLarge: Bool { ["file", "entity"].contains(definition) }

  package var allowed: String { "Allowed are \(keys.joined(separator: ", "))" }

  static let file = MappingFileObject(
    title: "the file", definition: "file",
    keys: ["$schema", "from", "to", "undecided", "destination", "tables", "entities", "others"])
  static let destination = MappingFileObject(
    title: "a destination", definition: "destination", keys: LoadDestination.keys)
  static let version = MappingFileObject(
    title: "a version", definition: "version", keys: ["name", "checksum", "hashes"])
  static let table = MappingFileObject(title: "a table", definition: "table", keys: ["file", "key", "value"])
  static let entity = MappingFileObject(
    title: "an entity mapping", definition: "entity",
    keys: [
      "name", "from", "to", "subentities", "remove", "reason", "filter", "userInfo", "policy", "byName", "attributes",
      "relationships", "objects",
    ])
  static let object = MappingFileObject(
    title: "an object", definition: "object",
    keys: [
      "create", "find", "findOrCreate", "by", "last", "forEach", "when", "userInfo", "attributes", "relationships",
      "link", "as",
    ])
  static let removal = MappingFileObject(title: "a removal", definition: "removal", keys: ["when", "reason"])
  static let target = MappingFileObject(
    title: "a target", definition: "target", keys: ["find", "by", "last", "target", "take", "when", "undecided"])
  static let value = MappingFileObject(
    title: "a value", definition: "value",
    keys: [
      "value", "date", "format", "zone", "cast", "to", "sum", "join", "with", "split", "at", "part", "prefix", "length",
      "lookup", "in", "if", "then", "else", "default", "expression", "uuid", "name", "uri", "binary", "epoch", "unit",
      "number", "text", "when", "distance", "over", "first", "last", "destination", "attribute",
      "undecided",
    ])

  static let all = [file, destination, version, table, entity, removal, object, target, value]
}
