import CoreDataModel
import Foundation
import RunSupport
import Streams

/// Reads mapping models that people wrote, as YAML or JSON. The format: docs/manual/mapping-files.md.
struct MappingFileReader {
  /// Extensions of mapping files.
  static let extensions: Set<String> = ["yaml", "yml", "json"]

  private let path: String
  private let name: String
  private var tables: [String: MappingTable] = [:]

  private init(path: String, name: String) { (self.path, self.name) = (path, name) }

  /// Reads a file. Throws ``BatchError`` with the code `badMapping` that names line, entity and key, and what is
  /// allowed there.
  static func read(_ path: String) throws -> MappingModel {
    var reader = MappingFileReader(path: path, name: PackageFolders.stem(path))
    return try reader.model(try MappingDocument.read(path))
  }

  /// Reads the text of a file of that name, without extension, that names no tables.
  static func read(text: String, name: String) throws -> MappingModel {
    var reader = MappingFileReader(path: name, name: name)
    return try reader.model(try MappingDocument.parse(text, path: name))
  }

  /// The tables that a mapping file names, relative to its folder.
  static func tableFiles(_ path: String) throws -> [String] {
    try tables(try MappingDocument.read(path).fields(.file)["tables"]).map(\.file)
  }

  /// Throws all that is wrong with the file, as far as it can be read on.
  private mutating func model(_ document: MappingNode) throws -> MappingModel {
    var root = document
    let faults = MappingFaults()
    root.faults = faults
    let fields = try root.fields(.file)
    let isWhole = faults.isEmpty
    try root.attempt { try readTables(fields["tables"]) }
    var model = MappingModel(name: name, entityMappings: [])
    try root.attempt {
      guard let from = fields["from"], let to = fields["to"] else {
        // A misspelt key says more.
        guard isWhole else { return }
        throw root.failure("the file does not say which versions it leads from and to", "Add the keys from and to")
      }
      (model.sourceModelName, model.sourceChecksum, model.sourceHashes) = try version(from)
      (model.destinationModelName, model.destinationChecksum, model.destinationHashes) = try version(to)
    }
    try root.attempt { model.destination = try fields["destination"].map(LoadDestination.init) }
    try root.attempt { model.mapsOthers = try fields["others"]?.flag("others") ?? false }
    try root.attempt { model.undecidedStep = try fields["undecided"]?.text("undecided") }
    try root.attempt {
      guard let entities = fields["entities"] else {
        guard isWhole else { return }
        throw root.failure("the file has no entities", "Add the key entities, a list")
      }
      model.entityMappings = try mappings(entities)
    }
    try faults.throwAny()
    return model
  }

  private mutating func readTables(_ node: MappingNode?) throws {
    // What looks something up in a table that cannot be read is no fault by itself.
    for (name, _) in node?.entries ?? [] {
      tables[name] = MappingTable(name: name, entries: [:], digest: [])
    }
    for table in try Self.tables(node) {
      let file = ((path as NSString).deletingLastPathComponent as NSString).appendingPathComponent(table.file)
      tables[table.name] = try TableReader.read(file, name: table.name, key: table.key, value: table.value)
    }
  }

  private func mappings(_ entities: MappingNode) throws -> [EntityMapping] {
    var found: [EntityMapping] = []
    for node in try entities.list("entities") {
      try node.attempt {
        for mapping in try EntityMappingReader(tables: tables).read(node) {
          guard !found.contains(where: { $0.name == mapping.name }) else {
            throw node.failure(
              "another entity mapping has the name \(mapping.name)", "Give one of them a name with the key name")
          }
          found.append(mapping)
        }
      }
    }
    return found
  }

  private func version(_ node: MappingNode) throws -> (name: String?, checksum: String?, hashes: [String: [UInt8]]) {
    guard node.entries != nil else { return (try node.text("a version"), nil, [:]) }
    let fields = try node.fields(.version)
    guard !fields.isEmpty else { throw node.failure("the version is not named", MappingFileObject.version.allowed) }
    var hashes: [String: [UInt8]] = [:]
    for (entity, hash) in try fields["hashes"]?.pairs("hashes") ?? [] {
      let text = try hash.text("a version hash")
      guard text.utf8.count == 64, text.utf8.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }) else {
        throw hash.failure(
          "the version hash of \(entity) has to be 64 hexadecimal digits", "\(ProgramName.current) hash prints them")
      }
      hashes[entity] = stride(from: 0, to: 64, by: 2).map { place in
        let start = text.utf8.index(text.startIndex, offsetBy: place)
        return UInt8(text[start..<text.utf8.index(start, offsetBy: 2)], radix: 16) ?? 0
      }
    }
    return (try fields["name"]?.text("name"), try fields["checksum"]?.text("checksum"), hashes)
  }

  private struct TableEntry {
    var name: String
    var file: String
    var key: String?
    var value: String?
  }

  /// A table lies in the folder of its mapping file, so that a run can take a copy of both.
  private static func tables(_ node: MappingNode?) throws -> [TableEntry] {
    try node?.pairs("tables").map { name, node in
      var entry = TableEntry(name: name, file: "")
      var place = node
      if node.entries != nil {
        let fields = try node.fields(.table)
        guard let file = fields["file"] else { throw node.failure("the table \(name) has no file") }
        place = file
        (entry.key, entry.value) = (try fields["key"]?.text("key"), try fields["value"]?.text("value"))
      }
      entry.file = try place.text("the file of a table")
      guard !entry.file.contains("/"), !entry.file.hasPrefix("."), entry.file.hasSuffix(".csv") else {
        throw place.failure(
          "a table has to be a .csv file in the folder of the mapping file", "Name it without a folder")
      }
      return entry
    } ?? []
  }
}
