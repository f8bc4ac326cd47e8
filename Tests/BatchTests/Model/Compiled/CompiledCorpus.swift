import Foundation
import GRDB

@testable import CoreDataModel
@testable import CoreDataStore

/// Model caches of real stores, and real compiled models.
enum CompiledCorpus {
  struct Cache {
    let entry: StoreCorpus.Entry
    let content: [UInt8]
    let hashes: [String: [UInt8]]
  }

  /// Every store that carries a model cache.
  static let caches: Result<[Cache], any Error> = Result {
    try StoreCorpus.stores().compactMap { entry in
      try StoreCorpus.withCopy(entry) { db in
        guard try db.tableExists("Z_MODELCACHE"),
          let content = try Data.fetchOne(db, sql: "SELECT Z_CONTENT FROM Z_MODELCACHE"),
          let plist = try Data.fetchOne(db, sql: "SELECT Z_PLIST FROM Z_METADATA")
        else { return nil }
        let metadata = try StoreMetadata(uuid: "", plist: Array(plist))
        return Cache(entry: entry, content: Array(content), hashes: metadata.versionHashes)
      }
    }
  }

  /// Paths of the compiled bundles.
  static func bundles() throws -> [String] { try ModelCorpus.folders("momd", below: "compiled").map(ModelCorpus.path) }

  /// A model in the order that archives have, without what archives cannot hold.
  static func archivable(_ model: ManagedObjectModel) -> ManagedObjectModel {
    var known = ManagedObjectModel(
      name: model.name, entities: model.entities.map(archivable), versionIdentifiers: model.versionIdentifiers.sorted())
    known.configurations = model.configurations.mapValues { $0.sorted() }
    known.fetchRequestTemplates = model.fetchRequestTemplates.mapValues(archivable)
    return known
  }

  private static func archivable(_ entity: EntityDescription) -> EntityDescription {
    var known = entity
    known.attributes = entity.attributes.map(archivable).sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    known.relationships = entity.relationships.map(archivable)
      .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    known.fetchedProperties = entity.fetchedProperties.map(archivable)
      .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    if known.renamingIdentifier == known.name { known.renamingIdentifier = nil }
    known.indexes = entity.indexes.map { index in
      var known = index
      known.unknown = [:]
      known.elements.removeAll { $0.property.isEmpty }
      return known
    }
    known.isSyncable = nil
    known.codeGenerationType = nil
    known.coreSpotlightDisplayNameExpression = nil
    known.unknown = [:]
    return known
  }

  private static func archivable(_ attribute: AttributeDescription) -> AttributeDescription {
    var known = attribute
    known.elements = attribute.elements.map(archivable)
    if known.renamingIdentifier == known.name { known.renamingIdentifier = nil }
    known.isSyncable = nil
    known.usesScalarValueType = nil
    known.allowsCloudEncryption = false
    known.isStoredInExternalRecord = false
    known.compositeName = nil
    known.unknown = [:]
    return known
  }

  private static func archivable(_ relationship: RelationshipDescription) -> RelationshipDescription {
    var known = relationship
    if known.renamingIdentifier == known.name { known.renamingIdentifier = nil }
    known.inverseEntity = nil
    known.isSyncable = nil
    known.isStoredInExternalRecord = false
    known.unknown = [:]
    return known
  }

  private static func archivable(_ property: FetchedPropertyDescription) -> FetchedPropertyDescription {
    var known = property
    known.fetchRequest = archivable(property.fetchRequest)
    if known.renamingIdentifier == known.name { known.renamingIdentifier = nil }
    known.isSyncable = nil
    known.unknown = [:]
    return known
  }

  /// The flags of a fetch request stand in an archive as bits whose meaning is not known.
  private static func archivable(_ request: FetchRequestDescription) -> FetchRequestDescription {
    var known = FetchRequestDescription(entity: request.entity, predicate: request.predicate)
    known.fetchLimit = request.fetchLimit
    known.fetchOffset = request.fetchOffset
    known.fetchBatchSize = request.fetchBatchSize
    known.resultType = request.resultType
    return known
  }
}
