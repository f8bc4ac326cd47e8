import CoreDataModel
import RunSupport
import Streams

/// Writes mapping models as YAML. Rules are not written: they exist in mapping files alone.
public enum MappingFileWriter {
  /// A mapping model as a mapping file that reads as the same model, under the same name of the file.
  ///
  /// - Throws: ``BatchError`` with the code `badMapping` if a part of it has no text, such as bytes in an expression.
  public static func text(_ model: MappingModel) throws -> String { try text(model) { _ in [] } }

  /// A mapping model of Xcode's as a mapping file to go on with: without what says nothing, and with a comment on each
  /// policy, which rules may stand for it. `source` and `destination` are its versions, as far as they are known.
  ///
  /// Throws as ``text(_:)``.
  package static func conversion(
    of model: MappingModel, source: ManagedObjectModel?, destination: ManagedObjectModel?
  ) throws -> String {
    let whole = model.entityMappings
    return try text(model.tidied(source: source)) { mapping in
      let original = whole.first { $0.name == mapping.name } ?? mapping
      return PolicyRules(mapping: original, model: model, source: source, destination: destination).lines
    }
  }

  private static func text(_ model: MappingModel, comments: (EntityMapping) -> [String]) throws -> String {
    var lines = version("from", name: model.sourceModelName, hashes: model.sourceHashes)
    lines += version("to", name: model.destinationModelName, hashes: model.destinationHashes)
    lines += model.destination?.lines ?? []
    lines.append(model.entityMappings.isEmpty ? "entities: []" : "entities:")
    for mapping in model.entityMappings { lines += comments(mapping).map(comment) + entity(mapping) }
    let text = lines.joined(separator: "\n") + "\n"
    var read = try MappingFileReader.read(text: text, name: model.name)
    if model.destinationModelName == nil, model.destinationHashes.isEmpty { read.destinationModelName = nil }
    if model.sourceModelName == nil, model.sourceHashes.isEmpty { read.sourceModelName = nil }
    guard read == model else {
      throw BatchError(
        .badMapping, "the mapping model \(model.name) has parts that a mapping file cannot hold",
        hint: "Keep it as it is: several properties of one name, or bytes in an expression, have no text")
    }
    return text
  }

  private static func version(_ key: String, name: String?, hashes: [String: [UInt8]]) -> [String] {
    guard !hashes.isEmpty else { return ["\(key): \(quoted(name ?? "unknown"))"] }
    var lines = ["\(key):"] + (name.map { ["  name: \(quoted($0))"] } ?? []) + ["  hashes:"]
    for (entity, hash) in hashes.sorted(by: { $0.key < $1.key }) {
      let hex = hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      lines.append("    \(quoted(entity)): \"\(hex)\"")
    }
    return lines
  }

  private static func entity(_ mapping: EntityMapping) -> [String] {
    var lines: [String] = []
    switch (mapping.sourceEntity, mapping.destinationEntity) {
    case (let from?, let to?): lines += ["from: \(quoted(from))", "to: \(quoted(to))"]
    case (nil, let to?): lines.append("to: \(quoted(to))")
    case (let from, nil): lines.append("remove: \(quoted(from ?? ""))")
    }
    let standard = EntityMapping(sourceEntity: mapping.sourceEntity, destinationEntity: mapping.destinationEntity)
    if mapping.name != standard.name { lines.insert("name: \(quoted(mapping.name))", at: 0) }
    guard mapping.destinationEntity != nil else { return item(lines) }
    if let policy = mapping.policyClassName { lines.append("policy: \(quoted(policy))") }
    if let filter = mapping.filterPredicate { lines.append("filter: \(quoted(filter))") }
    if !mapping.userInfo.isEmpty {
      lines.append("userInfo:")
      lines += mapping.userInfo.sorted { $0.key < $1.key }.map { "  \(quoted($0.key)): \(quoted($0.value))" }
    }
    if !mapping.mapsByName { lines.append("byName: false") }
    lines += properties("attributes", mapping.attributeMappings)
    lines += properties("relationships", mapping.relationshipMappings)
    return item(lines)
  }

  private static func properties(_ key: String, _ mappings: [PropertyMapping]) -> [String] {
    guard !mappings.isEmpty else { return [] }
    return ["\(key):"]
      + mappings.map { mapping in
        "  \(quoted(mapping.name)): \(mapping.valueExpression.map { quoted($0.description) } ?? RuleReader.same)"
      }
  }

  static func comment(_ text: String) -> String { "  # " + text.replacing(["\n": " ", "\r": " "]) }

  /// Lines as an element of a list.
  static func item(_ lines: [String]) -> [String] {
    lines.enumerated().map { ($0 == 0 ? "  - " : "    ") + $1 }
  }

  /// Whether a character may stand in quotation marks. Neither controls may, nor what YAML takes for the end of a line.
  private static func isPrintable(_ scalar: UInt32) -> Bool {
    (32..<0x7F).contains(scalar) || (0xA1..<0x2000).contains(scalar) || (0x2070..<0xD800).contains(scalar)
      || (0x1F000..<0x20000).contains(scalar)
  }

  /// A text as YAML: plain where it cannot be taken for anything else.
  package static func quoted(_ text: String) -> String {
    let isPlain =
      text.utf8.allSatisfy {
        ($0 >= 48 && $0 < 58) || ($0 | 32 >= 97 && $0 | 32 <= 122) || [32, 36, 46, 95].contains($0)
      }
      && text.first.map { $0.isLetter || $0 == "_" || $0 == "$" } == true && !text.hasSuffix(" ")
      && !["null", "true", "false"].contains(text)
    if isPlain { return text }
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case "\n": quoted += "\\n"
      case _ where !isPrintable(scalar.value):
        let hex = String(scalar.value, radix: 16, uppercase: true)
        quoted += "\\U" + String(repeating: "0", count: 8 - hex.count) + hex
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
