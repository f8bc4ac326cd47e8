import CoreDataModel
import Foundation
import RunSupport

/// Reads a lock, strictly: unknown keys, values of another kind, and hashes that do not follow from what stands beside
/// them are errors with their line.
package enum LockReader {
  /// The format of the file; grows when a key changes its meaning.
  static let format = 1
  /// The most bytes of a lock, and the most keys, values and marks between them: twice what 117 versions of 60 entities
  /// take.
  static let mostBytes = 8 << 20
  private static let mostMarks = 1 << 20
  /// The most properties of all versions, those included that a version refers to: a small file must not say endless
  /// ones.
  static let mostProperties = 1 << 18
  private static let advice =
    "Take the file from your version control again: `godwit lock` writes it, and nobody edits it"

  private static let file = MappingFileObject(title: "the lock", definition: "lock", keys: ["format", "versions"])
  private static let version = MappingFileObject(
    title: "a version", definition: "version", keys: ["checksum", "entities"])

  /// Reads the file; nil if there is none.
  ///
  /// - Throws: ``BatchError`` (`badModel`) with the line of what is wrong.
  package static func read(_ path: String) throws -> SchemaLock? {
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    func failure(_ message: String) -> BatchError { BatchError(.badModel, message, hint: advice, path: path) }
    guard let file = FileHandle(forReadingAtPath: path), !PackageFolders.isFolder(path) else {
      throw failure("the lock cannot be read")
    }
    defer { try? file.close() }
    guard let data = try? file.read(upToCount: mostBytes + 1) ?? Data() else {
      throw failure("the lock cannot be read")
    }
    guard data.count <= mostBytes else { throw failure("the lock is larger than \(mostBytes >> 20) MiB") }
    guard let text = String(validating: data, as: UTF8.self) else { throw failure("the lock is not UTF-8") }
    return try parse(text, path: path)
  }

  /// Reads the text of a lock.
  static func parse(
    _ text: String, path: String?, mostProperties: Int = mostProperties
  ) throws -> SchemaLock {
    let lines = text.split(whereSeparator: \.isNewline)
    guard lines.contains(where: { !$0.hasPrefix("#") && $0.contains { !$0.isWhitespace } }) else {
      throw BatchError(.badModel, "the lock is empty", hint: advice, path: path)
    }
    guard text.utf8.count(where: { ",:-[{\n\r".utf8.contains($0) }) <= mostMarks else {
      throw BatchError(.badModel, "the lock has more than \(mostMarks) values", hint: advice, path: path)
    }
    do { return try lock(MappingDocument.parse(text, path: path ?? ""), mostProperties) } catch var error as BatchError
    {
      (error.code, error.path) = (.badModel, path)
      error.hint = error.hint ?? advice
      throw error
    }
  }

  private static func lock(_ root: MappingNode, _ most: Int) throws -> SchemaLock {
    let fields = try root.fields(file)
    guard let format = fields["format"], let versions = fields["versions"] else {
      throw root.failure("a lock has the keys format and versions")
    }
    let number = try format.integer("format")
    guard number == Self.format else {
      throw format.failure("the lock has format \(number), and this program reads \(Self.format)")
    }
    var (models, left) = ([String: ManagedObjectModel](), most)
    let found = try versions.pairs("versions").map { name, node in
      let version = try version(name, node, after: models)
      models[name] = version.model
      left -= version.model.entities.reduce(0) { $0 + $1.attributes.count + $1.relationships.count }
      guard left >= 0 else { throw node.failure("the lock has more than \(most.grouped) properties") }
      return version
    }
    return SchemaLock(found)
  }

  /// `earlier` has the versions before, which it may refer to.
  private static func version(
    _ name: String, _ node: MappingNode, after earlier: [String: ManagedObjectModel]
  ) throws -> SchemaLock.Version {
    let fields = try node.fields(version)
    guard let checksum = fields["checksum"], let entities = fields["entities"] else {
      throw node.failure("the version \(name) needs checksum and entities")
    }
    let found = try entities.pairs("entities").map {
      ($0.node, try LockedEntityReader.read($0.name, $0.node, after: earlier))
    }
    let model = ManagedObjectModel(name: name, entities: found.map(\.1.entity))
    let hashes = model.versionHashes
    for (node, locked) in found where hashes[locked.entity.name] != locked.hash {
      throw node.failure(
        "what stands here of \(locked.entity.name) in \(name) does not give its hash: somebody edited the lock")
    }
    let version = SchemaLock.Version(model)
    guard try checksum.text("checksum") == version.checksum else {
      throw checksum.failure("the checksum of \(name) does not follow from its entities: somebody edited the lock")
    }
    return version
  }
}
