import Codecs
import CoreDataModel
import CoreDataStore
import Foundation
import MappingModels
import Migrations
import Streams

/// What makes two plans the same: everything that the finished bytes depend on apart from the source (I8).
package enum PlanFingerprint {
  /// `isNamed`: with the names of mapping models, which decide about no byte. All of a run's files have them.
  static func of(
    steps: [MigrationStep], extras: ExtrasOptions, indexes: IndexBuilding, policies: PolicyRegistry, now: Double,
    isNamed: Bool = true
  ) throws -> [UInt8] {
    var writer = ByteWriter()
    // Changes whenever the engine lays out pages or keys in another way.
    writer.writeString("layout 3")
    writer.writeString(indexes.rawValue)
    writer.writeDouble(now)
    writer.writeString(extras.history.rawValue)
    writer.writeBool(extras.allowsCloudKit)
    for step in steps.flatMap({ $0.passed + [$0] }) {
      // Earlier releases left out indexes that a store lacked.
      if step.isIdentity { writer.writeString("with missing indexes") }
      if !step.passed.isEmpty { writer.writeString("in the pass of the \(step.passed.count) before") }
      for model in [step.source, step.destination] {
        writer.writeString(model.name)
        writer.writeString(model.versionHashesDigest)
        for text in try model.remembered(ModelFacts.fileTexts, make: { try texts(model) }) { writer.writeString(text) }
      }
      for mappingModel in step.mappingModels {
        writer.writeString(isNamed ? mappingModel.name : "")
        for mapping in mappingModel.entityMappings {
          writer.writeString(text(mapping))
          writer.writeString(try policies.version(for: mapping) ?? "")
        }
      }
    }
    return SHA256.hash(writer.bytes)
  }

  /// What makes two models the same for whoever writes stores of them.
  package static func of(_ model: ManagedObjectModel) throws -> [UInt8] {
    var writer = ByteWriter()
    for text in [model.name, model.versionHashesDigest] + (try texts(model)) { writer.writeString(text) }
    return SHA256.hash(writer.bytes)
  }

  /// What of a model reaches the file: texts of the schema, default values, identifiers.
  private static func texts(_ model: ManagedObjectModel) throws -> [String] {
    let layout = try StoreLayout(model: model, purpose: .reading)
    let indexes = model.entities.map { "\($0.indexes) \($0.uniquenessConstraints) \($0.compoundIndexes)" }
    let defaults = model.entities.flatMap { entity in
      entity.attributes.map {
        "\(entity.name).\($0.name) \($0.type) \($0.isIndexed) \(String(describing: $0.defaultValue))"
      }
    }
    let texts = layout.entityTables.map(\.sql) + layout.joinTables.map(\.sql) + indexes + defaults
    // Runs of releases that made these indexes twice are not resumed.
    let repeated = model.entities.filter(\.repeatsIndexes).map { "\($0.name) repeats indexes" }
    return (texts + model.versionIdentifiers + repeated).map { replacing(oneModule, in: $0) }
  }

  /// A mapping as text that does not depend on the order of dictionaries.
  private static func text(_ mapping: EntityMapping) -> String {
    var plain = mapping
    plain.userInfo = [:]
    let info = mapping.userInfo.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    return replacing(oneModule + asBefore, in: "\(plain) \(info)")
  }

  /// All types are in one module, as they were when runs of this format began: they are to be resumed.
  private static let oneModule = [
    ("CoreDataModel.", "Batch."), ("CoreDataStore.", "Batch."), ("MappingModels.", "Batch."),
  ].map { (Array($0.utf8), Array($1.utf8)) }

  /// What mappings of older versions did not have is left out, if it says nothing.
  private static let asBefore = [", removals: []", ", takesSubentities: false", ", givenName: nil"].map {
    (Array($0.utf8), [UInt8]())
  }

  /// A text with pieces replaced, in one look at its bytes: texts of mappings are long.
  private static func replacing(_ pairs: [(from: [UInt8], to: [UInt8])], in text: String) -> String {
    let (bytes, firsts) = (Array(text.utf8), Set(pairs.map(\.from[0])))
    var (result, index) = ([UInt8](), 0)
    result.reserveCapacity(bytes.count)
    while index < bytes.count {
      if firsts.contains(bytes[index]), let pair = pairs.first(where: { bytes[index...].starts(with: $0.from) }) {
        result += pair.to
        index += pair.from.count
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  package static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  static func bytes(_ hex: String) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = Substring(hex)
    while rest.count >= 2 {
      bytes.append(UInt8(rest.prefix(2), radix: 16) ?? 0)
      rest = rest.dropFirst(2)
    }
    return bytes
  }
}

extension ModelFacts {
  fileprivate static let fileTexts = Key<[String]>("texts that reach the file")
}
