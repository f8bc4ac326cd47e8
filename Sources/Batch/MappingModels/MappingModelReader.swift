import Codecs
import CoreDataModel
import Foundation
import RunSupport
import Streams

/// Reads mapping models: those that Xcode writes and compiles, and those that people write as YAML or JSON.
///
/// Source of the rules: D.1, D.2 and D.4, measured on mapping models of real applications.
public enum MappingModelReader {
  /// Extensions of mapping models.
  private static let extensions = MappingFileReader.extensions.union([source, compiled])
  private static let source = "xcmappingmodel"
  private static let compiled = "cdm"

  /// Reads an `.xcmappingmodel`, its `xcmapping.xml`, a `.cdm`, `.yaml`, `.yml` or `.json`, or every mapping model below
  /// a folder: files before folders, each in sorted order. A `.cdm` that has the name of an `.xcmappingmodel` of the
  /// same folder is what Xcode made of it, and is left out.
  ///
  /// - Throws: ``BatchError`` with the code `badMapping` when one cannot be read or none is found.
  public static func read(path: String) throws -> [MappingModel] { try readFiles(path).map(\.model) }

  /// The same, each with the file that it was read from; of a package that is its folder.
  package static func readFiles(_ path: String) throws -> [(model: MappingModel, file: String)] {
    if (path as NSString).lastPathComponent == "xcmapping.xml" {
      let folder = (path as NSString).deletingLastPathComponent
      let isPackage = (folder as NSString).pathExtension == source
      return [(try model(path, name: PackageFolders.stem(isPackage ? folder : path)), path)]
    }
    let isFile = extensions.subtracting([source]).contains((path as NSString).pathExtension)
    if isFile, FileManager.default.fileExists(atPath: path) { return [(try document(path), path)] }
    guard PackageFolders.isFolder(path) else {
      try PackageFolders.refuseMissing(path)
      throw BatchError(
        .badMapping, "there is no mapping model here",
        hint: "Name an .xcmappingmodel, a .cdm, .yaml or .json file, or a folder that holds one", path: path)
    }
    let found = try documents(below: path)
    guard !found.isEmpty else {
      throw BatchError(
        .badMapping, "the folder holds no .xcmappingmodel or .cdm, and no .yaml or .json with mappings",
        hint: "Name another folder", path: path)
    }
    return try found.map { (try document($0), $0) }
  }

  private static func document(_ path: String) throws -> MappingModel {
    switch (path as NSString).pathExtension {
    case compiled: try CompiledMappingReader.read(path)
    case source: try model(path + "/xcmapping.xml", name: PackageFolders.stem(path))
    default: try MappingFileReader.read(path)
    }
  }

  /// The mapping models of a folder. Folders of projects hold YAML and JSON for many purposes: files without the word
  /// `entities` are none of ours.
  package static func documents(below path: String) throws -> [String] {
    let found = try PackageFolders.find(extensions, below: path, code: .badMapping)
    let sources = Set(found.filter { ($0 as NSString).pathExtension == source }.map(PackageFolders.stem))
    return found.filter {
      if ($0 as NSString).pathExtension == compiled { return $0 == path || !sources.contains(PackageFolders.stem($0)) }
      return !isFile($0) || MappingDocument.holds("entities", $0)
    }
  }

  /// Whether a mapping model, or one of a folder, names a database for the result. Only those with the word are read.
  ///
  /// - Throws: ``BatchError``.
  public static func namesDestination(_ path: String) throws -> Bool {
    let paths = PackageFolders.isFolder(path) ? try documents(below: path) : [path]
    return try paths.contains {
      try isFile($0) && MappingDocument.holds("destination", $0) && MappingFileReader.read($0).destination != nil
    }
  }

  /// Whether a file is one of ours that a person wrote, by its keys: projects hold YAML and JSON for many purposes. One
  /// with these keys that cannot be parsed counts, so that somebody is told.
  package static func isMappingFile(_ path: String) -> Bool {
    guard isFile(path), MappingDocument.holds("entities", path) else { return false }
    guard let root = try? MappingDocument.read(path) else {
      return ["\nentities:", "to:", "from:"].allSatisfy { MappingDocument.holds($0, path) }
    }
    return Set(root.entries?.map(\.name) ?? []).isSuperset(of: ["entities", "from", "to"])
  }

  /// The files beside a mapping model that it reads.
  package static func tableFiles(of path: String) throws -> [String] {
    isFile(path) ? try MappingFileReader.tableFiles(path) : []
  }

  /// Whether it is one that people write.
  package static func isFile(_ path: String) -> Bool {
    MappingFileReader.extensions.contains((path as NSString).pathExtension)
  }

  private static func model(_ path: String, name: String) throws -> MappingModel {
    let file = try MappingXMLReader.read(path)
    do { return try model(file, name: name) } catch var error as BatchError {
      error.path = error.path ?? path
      throw error
    }
  }

  private static func model(_ file: MappingXMLReader, name: String) throws -> MappingModel {
    let roots = file.order.compactMap { file.objects[$0] }.filter { $0.type == "XDDEVMAPPINGMODEL" }
    guard roots.count == 1, let root = roots.first else {
      throw BatchError(.badMapping, "the file holds \(roots.count) mapping models instead of one")
    }
    var model = MappingModel(name: name, entityMappings: try entityMappings(file))
    model.sourceModelName = versionName(root.attributes["sourcemodelpath"])
    model.destinationModelName = versionName(root.attributes["destinationmodelpath"])
    model.sourceHashes = hashes(
      root.attributes["sourcemodeldata"], of: model.entityMappings.compactMap(\.sourceEntity))
    model.destinationHashes = hashes(
      root.attributes["destinationmodeldata"], of: model.entityMappings.compactMap(\.destinationEntity))
    return model
  }

  private static func versionName(_ path: String?) -> String? {
    guard let path, !path.isEmpty else { return nil }
    return PackageFolders.stem(path)
  }

  /// Hashes of the named entities in an embedded model. One that cannot be decoded leaves them unknown: the mapping
  /// model is then found by names.
  private static func hashes(_ text: String?, of entities: [String]) -> [String: [UInt8]] {
    guard let bytes = text.flatMap(bytes), let model = try? EmbeddedModelReader.read(bytes, name: "") else {
      return [:]
    }
    let wanted = Set(entities)
    return model.versionHashes.filter { wanted.contains($0.key) }
  }

  static func bytes(_ base64: String) -> [UInt8]? {
    Data(base64Encoded: base64, options: .ignoreUnknownCharacters).map(Array.init)
  }

  /// Entity mappings in mapping order. One that no mapping model refers to was deleted in Xcode and is left out.
  private static func entityMappings(_ file: MappingXMLReader) throws -> [EntityMapping] {
    let objects = file.order.compactMap { file.objects[$0] }.filter {
      $0.type == "XDDEVENTITYMAPPING" && !($0.relationships["mappingmodel"] ?? []).isEmpty
    }
    let numbers = objects.map { $0.attributes["mappingnumber"].flatMap { Int(trimmed($0)) } ?? Int.max }
    let sorted = objects.indices.sorted { (numbers[$0], $0) < (numbers[$1], $1) }
    return try sorted.compactMap { try entityMapping(objects[$0], file) }
  }

  /// Nil for a mapping of nothing to nothing, which Xcode makes by a click and which does nothing.
  private static func entityMapping(
    _ object: MappingXMLReader.Object, _ file: MappingXMLReader
  ) throws -> EntityMapping? {
    let source = text(object, "sourcename")
    let destination = text(object, "destinationname")
    guard source != nil || destination != nil else {
      guard text(object, "migrationpolicyclassname") != nil else { return nil }
      throw BatchError(.badMapping, "an entity mapping names neither a source nor a destination")
    }
    var mapping = EntityMapping(name: text(object, "name"), sourceEntity: source, destinationEntity: destination)
    mapping.policyClassName = text(object, "migrationpolicyclassname")
    mapping.filterPredicate = text(object, "sourcefilterpredicatestring").flatMap { $0 == "TRUEPREDICATE" ? nil : $0 }
    do {
      if let text = object.attributes["userinfodata"] { mapping.userInfo = try userInfo(text) }
      mapping.attributeMappings = try propertyMappings(object, relationship: "attributemappings", file: file)
      mapping.relationshipMappings = try propertyMappings(object, relationship: "relationshipmappings", file: file)
    } catch var error as BatchError {
      error.entity = error.entity ?? mapping.name
      throw error
    }
    return mapping
  }

  private static func propertyMappings(
    _ object: MappingXMLReader.Object, relationship: String, file: MappingXMLReader
  ) throws -> [PropertyMapping] {
    try (object.relationships[relationship] ?? []).compactMap { file.objects[$0] }.compactMap { property in
      // A mapping without name lost its property in the destination model; there is nothing it could set.
      guard let name = text(property, "name") else { return nil }
      do { return PropertyMapping(name: name, valueExpression: try expression(property)) } catch {
        throw BatchError(
          .badMapping, "the value expression of \(name) cannot be read", hint: "Enter the expression again in Xcode",
          cause: error)
      }
    }
  }

  /// An explicit expression first; then the mapping and key path chosen in Xcode's fields; otherwise the default.
  private static func expression(_ property: MappingXMLReader.Object) throws -> CoreDataModel.Expression? {
    if let text = property.attributes["valueexpressiondata"] {
      guard let bytes = bytes(text) else { throw BatchError(.badMapping, "the archive is no base64") }
      return try CoreDataModel.Expression(archive: bytes)
    }
    guard let mapping = text(property, "sourcemappingname"), let path = text(property, "sourcekeypath") else {
      return nil
    }
    return .destinationInstances(ofMapping: mapping, source: .keyPath(text: path))
  }

  private static func userInfo(_ base64: String) throws -> [String: String] {
    guard let bytes = bytes(base64), let info = try KeyedArchive(bytes).root?.userInfo else {
      throw BatchError(.badMapping, "the user info cannot be read", hint: "Enter it again in Xcode")
    }
    return info
  }

  private static func text(_ object: MappingXMLReader.Object, _ name: String) -> String? {
    let text = trimmed(object.attributes[name] ?? "")
    return text.isEmpty ? nil : text
  }

  private static func trimmed(_ text: String) -> String { text.trimmingCharacters(in: .whitespacesAndNewlines) }
}

extension KeyedObject {
  /// The entries of a dictionary that are texts or numbers; nil if it is none.
  var userInfo: [String: String]? {
    dictionary?.reduce(into: [:]) { info, entry in
      guard let key = entry.key.string else { return }
      info[key] = entry.value.string ?? entry.value.integer.map(String.init) ?? entry.value.real.map { String($0) }
    }
  }
}

extension CoreDataModel.Expression {
  /// `FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", mapping, source)`.
  package static func destinationInstances(ofMapping name: String, source: CoreDataModel.Expression)
    -> CoreDataModel.Expression
  {
    .function(
      operand: .variable("manager"), name: "destinationInstancesForEntityMappingNamed:sourceInstances:",
      arguments: [.constant(.text(name)), source])
  }

  /// `FUNCTION($manager, "destinationInstancesForSourceRelationshipNamed:sourceInstances:", relationship, source)`.
  package static func destinationInstances(ofRelationship name: String, source: CoreDataModel.Expression)
    -> CoreDataModel.Expression
  {
    .function(
      operand: .variable("manager"), name: "destinationInstancesForSourceRelationshipNamed:sourceInstances:",
      arguments: [.constant(.text(name)), source])
  }

  /// `$source` or `$source.a.b`; a path without a variable starts at the source.
  static func keyPath(text: String) -> CoreDataModel.Expression {
    var parts = text.split(separator: ".").map(String.init)
    var variable = "source"
    if let first = parts.first, first.hasPrefix("$") {
      variable = String(first.dropFirst())
      parts.removeFirst()
    }
    return parts.isEmpty ? .variable(variable) : .keyPath(operand: .variable(variable), path: parts)
  }
}
