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

  private mutating func model(_ root: MappingNode) throws -> MappingModel {
    let fields = try root.fields(.file)
    for table in try Self.tables(fields["tables"]) {
      let file = ((path as NSString).deletingLastPathComponent as NSString).appendingPathComponent(table.file)
      tables[table.name] = try TableReader.read(file, name: table.name, key: table.key, value: table.value)
    }
    guard let entities = fields["entities"] else {
      throw root.failure("the file has no entities", "Add the key entities, a list")
    }
    var mappings: [EntityMapping] = []
    for node in try entities.list("entities") {
      for mapping in try EntityMappingReader(tables: tables).read(node) {
        guard !mappings.contains(where: { $0.name == mapping.name }) else {
          throw node.failure(
            "another entity mapping has the name \(mapping.name)", "Give one of them a name with the key name")
        }
        mappings.append(mapping)
      }
    }
    var model = MappingModel(name: name, entityMappings: mappings)
    guard let from = fields["from"], let to = fields["to"] else {
      throw root.failure("the file does not say which versions it leads from and to", "Add the keys from and to")
    }
    model.destination = try fields["destination"].map(LoadDestination.init)
    model.mapsOthers = try fields["others"]?.flag("others") ?? false
    (model.sourceModelName, model.sourceChecksum, model.sourceHashes) = try version(from)
    (model.destinationModelName, model.destinationChecksum, model.destinationHashes) = try version(to)
    return model
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
