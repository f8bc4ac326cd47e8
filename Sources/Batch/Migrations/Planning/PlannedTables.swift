import CoreDataModel
import CoreDataStore
import RunSupport

// The version that a store has by its tables.
extension MigrationPlanner {
  /// The store's version, and what a person should know of how it was found: something where the metadata contradict
  /// the tables.
  func source(of reader: StoreReader) throws -> (ManagedObjectModel, notes: [String]) {
    guard fromTables else { return (try StoreModel.find(of: reader, in: library), []) }
    let fit = TableFit(reader, in: library)
    let source = try fit.source(of: reader, first: firstVersion(fit))
    return (source, [fit.note(source)].compactMap { $0 })
  }

  /// The step between versions with the same hashes; nil if the store's tables and metadata are those of the second one.
  /// `assumption` is what ``source(of:)`` says of the first one.
  func renewal(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, of reader: StoreReader, _ assumption: [String]
  ) throws -> MigrationStep? {
    // The metadata contradict the tables also where these are the target's.
    guard assumption.isEmpty else { return try .renewal(from: source, to: destination) }
    guard !source.hasColumns(of: destination), StoreModel.own(reader, in: library) == source else { return nil }
    return try .inferred(
      from: source, library.hashes(of: source), to: destination, library.hashes(of: destination),
      reason: "both versions have the same version hashes, but their columns hold different attributes")
  }

  private func firstVersion(_ fit: TableFit) -> ManagedObjectModel? {
    guard let first else { return nil }
    // A resumed run names versions without their bundles.
    return (try? library.target(named: first)) ?? fit.versions.first { $0.name == first }
  }

  /// Lists of versions, as `--versions` takes them, each of which begins at another one that the tables fit and leads to
  /// the target; empty if the tables leave no choice.
  package func tableOrders(_ reader: StoreReader, target: MigrationTarget) -> [[String]] {
    let fit = TableFit(reader, in: library)
    guard fromTables, order.stages == nil, !fit.isConsistent, fit.versions.count > 1 else { return [] }
    let successors = try? order.successors(in: library)
    return fit.versions.compactMap { source in
      (try? destination(target, from: source)).flatMap { versions(from: source, to: $0, successors) }
    }
  }

  /// Adds how a mapping file is begun for a store whose version the library does not hold.
  func advise(_ error: inout BatchError, from reader: StoreReader, to target: MigrationTarget) {
    guard let (source, _) = try? source(of: reader), let destination = try? destination(target, from: source),
      let place = library.position(of: destination)
    else { return }
    let models = library.bundles.flatMap(\.paths) + library.bundles.flatMap(\.options)
    let begin = ProgramName.command(["mapping", "init", reader.path, library.names[place], "--models"] + models)
    error.hint =
      "Name the sources of the store's version, too, as PATH@TAG, or write a mapping file. To begin one: \(begin)"
    error.next = [begin.line]
  }

  /// Nil if no path leads there.
  private func versions(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, _ successors: [String: String]?
  ) -> [String]? {
    let graph = VersionGraph(library: library, successors: successors)
    let (start, end) = (library.key(of: source), library.key(of: destination))
    let ends = [start, end].compactMap { graph.places($0).first }
    let chain = graph.chain(from: start, to: end) ?? graph.chain(from: end, to: start)?.reversed()
    let list = (start == end ? [ends[0]] : chain ?? ends).map { library.names[$0] }
    let found = try? VersionPath.find(
      from: source, to: destination, library: library, mappings: mappings, order: .list(list))
    return found == nil ? nil : list
  }
}
