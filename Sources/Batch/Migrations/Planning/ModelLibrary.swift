import CoreDataModel
import Foundation
import RunSupport

/// All versions of the data models that a run knows.
public struct ModelLibrary: Sendable {
  private static let mostListed = 20

  /// The bundles, in the order of their paths.
  public let bundles: [ModelBundle]
  /// All versions: bundle after bundle, each in the order of its versions.
  public let versions: [ManagedObjectModel]
  /// Entity hashes of every version, in the order of ``versions``.
  let hashes: [[String: [UInt8]]]
  /// Checksums of every version (A.6), in the order of ``versions``.
  let checksums: [String]
  /// What tells versions apart, whatever their order: their checksums; of those with one checksum whose columns hold
  /// different properties, with ``ManagedObjectModel/columnsDigest`` behind it.
  let keys: [String]
  /// One for each version, also for those with one key: they may have other renaming identifiers, which hashes leave out.
  /// The key, with the version's name behind it where several have it.
  let placeKeys: [String]

  /// Paths by inference alone that were found before.
  let paths: Memo<PathKey, RunInference>
  private enum Question: Hashable { case hasEvaluatedDefaults, isInOrderOfNames }
  private let answers: Memo<Question, Bool>
  /// Whether a version has a default that is evaluated once.
  var hasEvaluatedDefaults: Bool {
    answers.value(.hasEvaluatedDefaults) { versions.contains(where: EvaluatedDefaults.has) }
  }
  /// Whether the versions of each bundle are in the order of their names, numbers compared by value.
  var isInOrderOfNames: Bool { answers.value(.isInOrderOfNames) { bundles.allSatisfy(\.isInOrderOfNames) } }
  /// Such paths, prepared for tables that stores had.
  let prepared: Memo<PreparedPath.Key, PreparedPath>

  /// What a path by inference alone depends on, apart from the library.
  struct PathKey: Hashable {
    /// Positions in ``versions``.
    var source: Int
    var destination: Int
    var successors: [String: String]?
    var way: InferencePath?
  }

  /// Reads the bundles at the paths: `.xcdatamodeld`, `.xcdatamodel`, compiled ones, folders of them, stores, whose own
  /// model is a bundle of one version, and what the registered ``ModelFormat`` reads. What the process has read before,
  /// and what has not changed since, is not read again.
  ///
  /// - Throws: ``BatchError`` with the code `badModel` when one cannot be read, and `noModel` for a store without one.
  public init(paths: [String]) throws {
    self = try KnownLibraries.library(paths)
  }

  /// Gives the memory of the libraries back that the process has read and nobody holds.
  package static func forgetKnown() { KnownLibraries.forget() }

  /// Makes a library of bundles that were read before.
  public init(bundles: [ModelBundle]) {
    self.init(bundles: bundles, hashes: bundles.flatMap { ManagedObjectModel.versionHashes($0.versions) })
  }

  /// Makes a library where the hashes of all versions are known already.
  init(bundles: [ModelBundle], hashes: [[String: [UInt8]]]) {
    self.bundles = bundles
    self.hashes = hashes
    (paths, prepared, answers) = (Memo(limit: 16), Memo(limit: 16), Memo(limit: 2))
    checksums = hashes.map(ManagedObjectModel.versionChecksum)
    versions = bundles.flatMap(\.versions)
    keys = Self.keys(versions, checksums)
    let counts = Dictionary(grouping: keys) { $0 }.mapValues(\.count)
    placeKeys = zip(keys, versions).map { (counts[$0] ?? 0) > 1 ? "\($0):\($1.name)" : $0 }
  }

  private static func keys(_ versions: [ManagedObjectModel], _ checksums: [String]) -> [String] {
    let alike = Dictionary(grouping: versions.indices) { checksums[$0] }.filter { _, places in
      places.dropFirst().contains { !versions[$0].hasColumns(of: versions[places[0]]) }
    }
    return versions.indices.map { place in
      alike[checksums[place]] == nil ? checksums[place] : "\(checksums[place])/\(versions[place].columnsDigest)"
    }
  }

  /// Where in ``versions`` a model is; nil for one that is not among them.
  func position(of model: ManagedObjectModel) -> Int? {
    versions.indices.first { versions[$0].name == model.name && versions[$0] == model }
  }

  /// The version whose entity names and hashes are all equal to those given (A.6); the first of several.
  public func model(matching hashes: [String: [UInt8]]) -> ManagedObjectModel? {
    self.hashes.firstIndex(of: hashes).map { versions[$0] }
  }

  /// All versions with these hashes.
  func models(matching hashes: [String: [UInt8]]) -> [ManagedObjectModel] {
    versions.indices.filter { self.hashes[$0] == hashes }.map { versions[$0] }
  }

  /// The version of that name: `Version`, or `Bundle/Version` where several bundles have one of that name. A name that
  /// no version has may be a model identifier, as Xcode's inspector sets it.
  public func version(named name: String) -> ManagedObjectModel? { positions(named: name).first.map { versions[$0] } }

  /// The version that a migration leads to: the one named, by its name or its identifier, else the current version of
  /// the bundle that holds `source`, else the last version of that bundle.
  ///
  /// - Throws: ``BatchError`` with the code `noModel` that names the known versions when there is no such version, or
  ///   when several could be meant.
  public func target(named name: String?, from source: ManagedObjectModel? = nil) throws -> ManagedObjectModel {
    if let name {
      let found = positions(named: name)
      guard found.count == 1 else {
        throw BatchError(.noModel, found.isEmpty ? unknown(name) : ambiguous(name, found), hint: knownVersions)
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
        .noModel, bundle.lostVersion ?? "the current version \(current) is not in the model", hint: knownVersions,
        path: bundle.path)
    }
    return version
  }

  /// Hashes of a model; those of a version are known already.
  package func hashes(of model: ManagedObjectModel) -> [String: [UInt8]] {
    versions.firstIndex(of: model).map { hashes[$0] } ?? model.versionHashes
  }

  /// The checksum of a model (A.6).
  func checksum(of model: ManagedObjectModel) -> String {
    versions.firstIndex(of: model).map { checksums[$0] } ?? model.versionChecksum
  }

  /// What tells a version from others: ``keys``.
  func key(of model: ManagedObjectModel) -> String {
    versions.firstIndex(of: model).map { keys[$0] } ?? model.versionChecksum
  }

  /// The same for one version alone: ``placeKeys``.
  func placeKey(of model: ManagedObjectModel) -> String {
    (position(of: model) ?? versions.firstIndex(of: model)).map { placeKeys[$0] } ?? model.versionChecksum
  }

  /// Positions of the versions of that name, also as `Bundle/Version`, or else of that identifier.
  private func positions(named name: String) -> [Int] {
    let (file, full) = (name as NSString, fullNames)
    let isFile = ["xcdatamodel", "mom"].contains(file.pathExtension)
    for name in isFile ? [name, file.deletingPathExtension] : [name] {
      let found = versions.indices.filter { versions[$0].name == name || full[$0] == name }
      if !found.isEmpty { return found }
    }
    return versions.indices.filter { versions[$0].versionIdentifiers.contains(name) }
  }

  private var fullNames: [String] {
    bundles.flatMap { bundle in bundle.versions.map { "\(bundle.name)/\($0.name)" } }
  }

  /// What `--to` and `--versions` take for each version: its name, with its bundle if several have it.
  package var names: [String] {
    let counts = versions.reduce(into: [:]) { $0[$1.name, default: 0] += 1 }
    return zip(versions, fullNames).map { counts[$0.name] == 1 ? $0.name : $1 }
  }

  private func unknown(_ name: String) -> String {
    "no version is named \(name)\(NearName.question(name, in: names + versions.flatMap(\.versionIdentifiers)))"
  }

  private func ambiguous(_ name: String, _ found: [Int]) -> String {
    let isName = found.contains { versions[$0].name == name }
    let list = found.map { fullNames[$0] }.joined(separator: ", ")
    return "\(found.count) versions \(isName ? "are named" : "have the identifier") \(name): \(list)"
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

  /// Whether a list of versions has a model.
  func holds(_ model: ManagedObjectModel, in list: [String]) -> Bool {
    let known = key(of: model)
    return list.contains { name in version(named: name).map { key(of: $0) == known } ?? false }
  }

  var knownVersions: String {
    let lists = bundles.map { "\($0.name): \(Self.list($0.versions.map(\.name)))" }
    guard !lists.isEmpty else { return "No version is known" }
    return "Known versions in their order, of " + lists.joined(separator: "; of ")
  }

  /// Some of many: nobody reads a hundred names in an error.
  static func list(_ names: [String]) -> String {
    guard names.count > mostListed else { return names.joined(separator: ", ") }
    let ends = [names.prefix(3), names.suffix(3)].map { $0.joined(separator: ", ") }
    return "\(ends[0]), … \(names.count - 6) more …, \(ends[1])"
  }
}

extension ModelBundle {
  fileprivate var isInOrderOfNames: Bool {
    let names = versions.map(\.name)
    return NaturalOrder.versions(names, of: name) { $0 } == names
  }
}
