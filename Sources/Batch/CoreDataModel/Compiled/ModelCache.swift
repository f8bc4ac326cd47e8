import Codecs
import RunSupport

/// The model that a store carries in Z_MODELCACHE.Z_CONTENT: a compiled model, packed as raw deflate (B.2).
public enum ModelCache {
  /// The largest archives known have 70 kB.
  private static let largestArchive = 64 << 20
  private static let largestContent = 16 << 20

  /// Reads the content of a cache.
  ///
  /// A store is none the worse for it: callers show the error as a warning and continue without the cache.
  ///
  /// - Throws: ``BatchError`` with the code `badModel` when it is cut off, damaged or no model.
  public static func decode(_ content: [UInt8], name: String = "") throws -> ManagedObjectModel {
    let archive = try archive(content)
    do { return try CompiledModelReader.read(archive, name: name) } catch let error as BatchError {
      throw BatchError(.badModel, "the model cache (Z_MODELCACHE) cannot be read", hint: hint, cause: error)
    }
  }

  private static let hint = "The store can still be migrated with its model file"

  /// The compiled model in a cache, as a `.mom` has it.
  ///
  /// - Throws: ``BatchError`` with the code `badModel` when it is cut off or damaged.
  package static func archive(_ content: [UInt8]) throws -> [UInt8] {
    guard !content.isEmpty else { throw BatchError(.badModel, "the model cache (Z_MODELCACHE) is empty", hint: hint) }
    guard content.count <= largestContent else {
      throw BatchError(.badModel, "the model cache (Z_MODELCACHE) has \(content.count) bytes, more than any store's")
    }
    do { return try Inflate.decode(content, limit: largestArchive) } catch let damage as InflateDamage {
      throw BatchError(
        .badModel, "the model cache (Z_MODELCACHE) cannot be unpacked after \(damage.output.count) bytes", hint: hint,
        cause: damage)
    }
  }

  /// The content of a cache for a model, the same bytes for the same model, and what of the model has no place in it:
  /// predicates that are not understood, indexed expressions.
  ///
  /// - Throws: ``BatchError`` with the code `badModel` when the model would be another one afterwards: the entity whose
  ///   version hash would differ is named.
  public static func encode(_ model: ManagedObjectModel) throws -> (content: [UInt8], leftOut: [String]) {
    try model.remembered(ModelFacts.modelCache) { try encoded(model) }
  }

  private static func encoded(_ model: ManagedObjectModel) throws -> (content: [UInt8], leftOut: [String]) {
    let (archive, leftOut) = CompiledModelWriter.write(model)
    let wanted = model.versionHashes
    let written = try CompiledModelReader.read(archive, name: model.name).versionHashes
    if let name = model.entities.map(\.name).first(where: { wanted[$0] != written[$0] }) {
      throw BatchError(
        .badModel,
        "the model cannot be written into a cache: "
          + (leftOut.isEmpty ? "its version hash would change" : leftOut.joined(separator: "; ")),
        entity: name)
    }
    return (Deflate.encode(archive), leftOut)
  }
}

extension ModelFacts {
  fileprivate static let modelCache = Key<(content: [UInt8], leftOut: [String])>("model cache")
}
