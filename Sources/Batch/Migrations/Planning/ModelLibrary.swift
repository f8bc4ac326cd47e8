import CoreDataModel
import RunSupport

/// All versions of the data models that a run knows.
public struct ModelLibrary: Sendable {
  /// The bundles, in the order of their paths.
  public let bundles: [ModelBundle]
  /// All versions: bundle after bundle, each in the order of its versions.
  public let versions: [ManagedObjectModel]
  /// Entity hashes of every version, in the order of ``versions``.
  let hashes: [[String: [UInt8]]]
  /// Checksums of every version (A.6), in the order of ``versions``.
  let checksums: [String]

  /// Reads the bundles at the paths: `.xcdatamodeld`, `.xcdatamodel`, or folders of them, and what the registered
  /// ``ModelFormat`` reads.
  ///
  /// - Throws: ``BatchError`` with the code `badModel` when one cannot be read.
  public init(paths: [String]) throws {
    self.init(bundles: try ModelReader.read(paths: paths))
  }

  /// Makes a library of bundles that were read before.
  public init(bundles: [ModelBundle]) {
    self.init(bundles: bundles, hashes: bundles.flatMap { ManagedObjectModel.versionHashes($0.versions) })
  }

  /// Makes a library where the hashes of all versions are known already.
  init(bundles: [ModelBundle], hashes: [[String: [UInt8]]]) {
    self.bundles = bundles
    self.hashes = hashes
    checksums = hashes.map(ManagedObjectModel.versionChecksum)
    versions = bundles.flatMap(\.versions)
  }

  /// The version whose entity names and hashes are all equal to those given (A.6); the first of several.
  public func model(matching hashes: [String: [UInt8]]) -> ManagedObjectModel? {
    self.hashes.firstIndex(of: hashes).map { versions[$0] }
  }

  /// The version of that name: `Version`, or `Bundle/Version` where several bundles have one of that name.
  public func version(named name: String) -> ManagedObjectModel? { positions(named: name).first.map { versions[$0] } }

  /// The version that a migration leads to: the one named, else the current version of the bundle that holds `source`,
  /// else the last version of that bundle.
  ///
  /// - Throws: ``BatchError`` with the code `noModel` that names the known versions when there is no such version, or
  ///   when several could be meant.
  public func target(named name: String?, from source: ManagedObjectModel? = nil) throws -> ManagedObjectModel {
    if let name {
      let found = positions(named: name)
      guard found.count == 1 else {
        let count = found.isEmpty ? "no version is" : "\(found.count) versions are"
        throw BatchError(.noModel, "\(count) named \(name)", hint: knownVersions)
      }
      return versions[found[0]]
    }
    let bundle = try targetBundle(from: source)
    guard let current = bundle.currentVersion else {
      guard let last = bundle.versions.last else {
        throw BatchError(.noModel, "the model \(bundle.name) has no version", path: bundle.path)
      }
      return last
    }
    guard let version = bundle.versions.first(where: { $0.name == current }) else {
      throw BatchError(
        .noModel, "the current version \(current) is not in the model", hint: knownVersions, path: bundle.path)
    }
    return version
  }

  /// A version that comes near to what a store holds.
  public struct Nearest: Sendable, Equatable {
    /// The version.
    public var model: ManagedObjectModel
    /// Entities that both have, but with different hashes; sorted.
    public var different: [String]
    /// Entities that only the store has; sorted.
    public var onlyInStore: [String]
    /// Entities that only the version has; sorted.
    public var onlyInModel: [String]
  }

  /// The version with the fewest entities that differ, for a message; nil in an empty library.
  public func nearest(to hashes: [String: [UInt8]]) -> Nearest? {
    let all = versions.indices.map { position -> Nearest in
      let known = self.hashes[position]
      return Nearest(
        model: versions[position],
        different: known.filter { hashes[$0.key] != nil && hashes[$0.key] != $0.value }.keys.sorted(),
        onlyInStore: hashes.keys.filter { known[$0] == nil }.sorted(),
        onlyInModel: known.keys.filter { hashes[$0] == nil }.sorted())
    }
    // Of two that are equally near the later one: a store is rather new than old.
    return all.reversed().min { $0.distance < $1.distance }
  }

  /// The error for a store that no version fits: it names the nearest version and what differs.
  public func noModel(for hashes: [String: [UInt8]], path: String? = nil) -> BatchError {
    var message = "no version of the model fits the store"
    if let nearest = nearest(to: hashes) {
      message += "; the nearest is \(nearest.model.name)"
      let parts = [
        ("differing", nearest.different), ("only in the store", nearest.onlyInStore),
        ("only in the version", nearest.onlyInModel),
      ]
      for (label, names) in parts where !names.isEmpty { message += "; \(label): \(names.joined(separator: ", "))" }
    }
    return BatchError(.noModel, message, hint: "Supply the version that wrote the store. \(knownVersions)", path: path)
  }

  /// Hashes of a model; those of a version are known already.
  package func hashes(of model: ManagedObjectModel) -> [String: [UInt8]] {
    versions.firstIndex(of: model).map { hashes[$0] } ?? model.versionHashes
  }

  /// The checksum of a model (A.6).
  func checksum(of model: ManagedObjectModel) -> String {
    versions.firstIndex(of: model).map { checksums[$0] } ?? model.versionChecksum
  }

  /// Positions of the versions of that name, also as `Bundle/Version`.
  private func positions(named name: String) -> [Int] {
    let owners = bundles.flatMap { bundle in bundle.versions.map { _ in bundle.name } }
    return versions.indices.filter {
      versions[$0].name == name || "\(owners[$0])/\(versions[$0].name)" == name
    }
  }

  private func targetBundle(from source: ManagedObjectModel?) throws -> ModelBundle {
    if bundles.count == 1 { return bundles[0] }
    if let source {
      let known = hashes(of: source)
      let holding = bundles.filter { $0.versions.contains { hashes(of: $0) == known } }
      if holding.count == 1 { return holding[0] }
    }
    throw BatchError(
      .noModel, "several data models are known, and which one is meant is not",
      hint: "Name the target. \(knownVersions)")
  }

  var knownVersions: String {
    let lists = bundles.map { "\($0.name): \($0.versions.map(\.name).joined(separator: ", "))" }
    return lists.isEmpty ? "No version is known" : "Known versions of " + lists.joined(separator: "; ")
  }
}

extension ModelLibrary.Nearest {
  fileprivate var distance: Int { different.count + onlyInStore.count + onlyInModel.count }
}
