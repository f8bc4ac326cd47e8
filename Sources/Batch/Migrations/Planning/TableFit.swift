import CoreDataModel
import CoreDataStore
import RunSupport

/// Which versions the tables of a store are those of, whatever its metadata say: after a change of the metadata alone,
/// or the loss of a -wal file, the two contradict each other.
package struct TableFit: Sendable {
  /// The versions whose tables, columns and types the store has, and no others, in the library's order; of versions
  /// that are equal, the first.
  package let versions: [ManagedObjectModel]
  /// What the metadata claim: a version of the library, or the store's own model; nil if nothing fits them.
  package let claimed: ManagedObjectModel?
  /// Whether the tables are as the metadata claim.
  package let isConsistent: Bool
  /// The name of the model that the store carries.
  private let own: String?

  /// Compares the tables with every version. The model that the store carries counts where none fits, and where the
  /// metadata say it rightly.
  package init(_ reader: StoreReader, in library: ModelLibrary) {
    let cache = CachedModel(reader)
    own = cache.found?.name
    let known = library.model(matching: reader.metadata.versionHashes)
    claimed = known ?? cache.model
    isConsistent = claimed.map { Self.fits($0, reader) } ?? false
    var seen: Set<[String: [UInt8]]> = []
    let fitting = library.versions.filter { version in
      Self.fits(version, reader) && seen.insert(library.hashes(of: version)).inserted
    }
    let countsOwn = fitting.isEmpty || (isConsistent && known == nil)
    versions = fitting + [cache.found].compactMap { countsOwn ? $0 : nil }.filter { Self.fits($0, reader) }
  }

  /// The version to migrate from: what the metadata claim if the tables are like that, else `first` if it fits, else the
  /// only one that does.
  ///
  /// - Throws: ``BatchError`` (`noModel`) when none fits, or several do.
  package func source(of reader: StoreReader, first: ManagedObjectModel?) throws -> ManagedObjectModel {
    if isConsistent, let claimed { return claimed }
    if let first, versions.contains(where: { $0.versionHashes == first.versionHashes }) { return first }
    guard let only = versions.first else {
      throw BatchError(
        .noModel, "the tables fit no version of the model",
        hint: "Name the version that made the tables with --models",
        path: reader.path)
    }
    guard versions.count == 1 else {
      throw BatchError(
        .noModel, "the tables fit several versions: \(ModelLibrary.list(names))",
        hint: "Name the one that made the tables as the first of --versions, and the target as the last",
        path: reader.path)
    }
    return only
  }

  /// What a person should know of a migration that begins at this version.
  package func note(_ source: ManagedObjectModel) -> String? {
    guard !isConsistent else { return nil }
    let claim = claimedName.map { "the metadata say \($0)" } ?? "the metadata name no version that is known"
    return "\(claim), but the tables are those of \(name(source)): the migration begins there, as --from-tables asks"
  }

  /// What the metadata claim, in words.
  package var claimedName: String? { claimed.map(name) }

  /// The names of ``versions``.
  package var names: [String] { versions.map(name) }

  private func name(_ version: ManagedObjectModel) -> String {
    version.name == own ? "the model that the store carries" : version.name
  }

  private static func fits(_ model: ManagedObjectModel, _ reader: StoreReader) -> Bool {
    guard let binding = try? StoreBinding(reader, model: model), binding.extras.columns.isEmpty else { return false }
    let columns = StoreColumns(layout: binding.layout, schema: reader.schema)
    guard model.entities.allSatisfy({ columns.retyped($0.name).isEmpty }) else { return false }
    return !binding.extras.tables.contains { isCoreData($0, reader.schema) }
  }

  /// Whether a table is one that Core Data makes for an entity or for links; others may have any names.
  private static func isCoreData(_ name: String, _ schema: StoreSchema) -> Bool {
    if NumberedName(name)?.prefix == "z_" { return true }
    return schema.table(name)?.columns.prefix(3).map { NameOrder.folded($0.name) } == ["z_pk", "z_ent", "z_opt"]
  }
}
