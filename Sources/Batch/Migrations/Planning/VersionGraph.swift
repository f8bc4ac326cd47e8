import CoreDataModel
import MappingModels
import RunSupport

/// The versions as places and the mapping models as ways between them. Ways are found by hash, not by name; a name only
/// decides between several places whose hashes fit.
package struct VersionGraph {
  package struct Pair: Hashable {
    package let source: Int
    package let destination: Int

    package init(source: Int, destination: Int) { (self.source, self.destination) = (source, destination) }
  }

  package private(set) var versions: [ManagedObjectModel]
  package private(set) var hashes: [[String: [UInt8]]]
  /// What tells places apart: ``ModelLibrary/keys``.
  private var keys: [String]
  /// The version that follows, if one does.
  private var next: [Int?] = []
  /// Mapping models by the pair of versions that they fit.
  package private(set) var explicit: [Pair: [MappingModel]] = [:]
  /// Mapping models that fit no pair, with the reason.
  package private(set) var unused: [String] = []

  /// What the library calls its versions.
  private let names: [String]
  /// The bundles, with the checksums of their versions.
  private let bundles: [(checksums: [String], bundle: ModelBundle)]

  /// `successors` says by ``ModelLibrary/placeKeys`` which version follows which; without it the next one of the same bundle does.
  package init(library: ModelLibrary, successors: [String: String]?) {
    versions = library.versions
    (hashes, keys) = (library.hashes, library.keys)
    names = library.names
    var rest = library.checksums[...]
    bundles = library.bundles.map { bundle in
      defer { rest = rest.dropFirst(bundle.versions.count) }
      return (Array(rest.prefix(bundle.versions.count)), bundle)
    }
    if let successors {
      next = library.versions.indices.map { Self.following($0, by: successors, in: library) }
      return
    }
    for bundle in library.bundles {
      let start = next.count
      next += bundle.versions.indices.map { $0 + 1 < bundle.versions.count ? start + $0 + 1 : nil }
    }
  }

  /// The version that follows by ``ModelLibrary/placeKeys``, or else by checksums, as callers may say it.
  private static func following(_ place: Int, by successors: [String: String], in library: ModelLibrary) -> Int? {
    let known = [library.placeKeys, library.keys, library.checksums]
    guard let wanted = known.lazy.compactMap({ successors[$0[place]] }).first else { return nil }
    return known.lazy.compactMap { $0.firstIndex(of: wanted) }.first
  }

  /// Throws if the application's own code makes the step, or if the sources do not say so clearly. Of a step from a
  /// version that the library does not hold, the error has no hint.
  func refuseCustom(_ pair: Pair) throws {
    let (from, to) = (checksum(pair.source), checksum(pair.destination))
    for (checksums, bundle) in bundles where checksums.contains(to) {
      guard let reason = bundle.migrations.refusal(from: from, to: to, order: checksums) else { continue }
      let begin = [pair.source, pair.destination].allSatisfy(names.indices.contains) ? command(pair, to: bundle) : nil
      throw BatchError(
        .badMapping,
        "the step \(versions[pair.source].name) to \(versions[pair.destination].name) needs a mapping model: \(reason)",
        hint: begin.map { "Write a mapping file for it, and name it with --mappings. To begin one: \($0)" },
        next: begin.map { [$0.line] } ?? [])
    }
  }

  /// The same for a step of which nobody knows the bundle; nil if the library does not hold both versions.
  func beginning(_ pair: Pair) -> AdvisedCommand? {
    let to = checksum(pair.destination)
    guard [pair.source, pair.destination].allSatisfy(names.indices.contains),
      let found = bundles.first(where: { $0.checksums.contains(to) })
    else { return nil }
    return command(pair, to: found.bundle)
  }

  /// The command that begins a mapping file for a step between two versions of the library.
  private func command(_ pair: Pair, to bundle: ModelBundle) -> AdvisedCommand {
    let from = checksum(pair.source)
    let first = bundles.first { $0.checksums.contains(from) }?.bundle ?? bundle
    return ModelBundle.beginning(names[pair.source], names[pair.destination], from: first, to: bundle)
  }

  private func checksum(_ place: Int) -> String { ManagedObjectModel.versionChecksum(hashes[place]) }

  /// Adds source and destination where the library does not hold them. Such a source stands in no order: the
  /// destination is what an application would infer it to.
  package mutating func add(
    _ source: ManagedObjectModel, _ sourceHashes: [String: [UInt8]],
    before destination: (model: ManagedObjectModel, hashes: [String: [UInt8]])
  ) {
    if !hashes.contains(destination.hashes) { append(destination.model, destination.hashes) }
    guard !hashes.contains(sourceHashes) else { return }
    append(source, sourceHashes)
    next[next.count - 1] = hashes.firstIndex(of: destination.hashes)
  }

  private mutating func append(_ model: ManagedObjectModel, _ hashes: [String: [UInt8]]) {
    versions.append(model)
    self.hashes.append(hashes)
    keys.append(ManagedObjectModel.versionChecksum(hashes))
    next.append(nil)
  }

  /// All versions with this key: an author may publish a version that changes nothing.
  func places(_ key: String) -> [Int] { keys.indices.filter { keys[$0] == key } }

  /// All versions that are the same as this one.
  func equals(_ place: Int) -> [Int] { places(keys[place]) }

  /// The version that inference leads to from here, unless the target comes before it.
  func successor(of place: Int, targets: [Int]) -> Int? {
    // To an equal version there is no step: it is the same place.
    guard let next = next[place], !targets.contains(place), keys[next] != keys[place] else { return nil }
    return next
  }

  /// Whether a version comes before another in the order, with any number of versions between.
  func precedes(_ earlier: String, _ later: String) -> Bool {
    chain(from: earlier, to: later) != nil
  }

  /// The versions from one to another that comes after it in the order; nil if it does not.
  func chain(from earlier: String, to later: String) -> [Int]? {
    for start in places(earlier) {
      var chain = [start]
      while let found = next[chain[chain.count - 1]], chain.count <= versions.count {
        chain.append(found)
        if keys[found] == later { return chain }
      }
    }
    return nil
  }

  /// The same for two places.
  func chain(from earlier: Int, to later: Int) -> [Int]? { chain(from: keys[earlier], to: keys[later]) }

  /// The steps that inference makes one after the other from here to a target, except for those that have mapping
  /// models.
  func successors(of place: Int, targets: [Int]) -> [Pair] {
    var (pairs, place) = ([Pair](), place)
    // Of versions that are one place, one may lead on.
    while pairs.count < versions.count,
      let pair = ([place] + equals(place)).lazy.compactMap({ here in
        successor(of: here, targets: targets).map { Pair(source: here, destination: $0) }
      }).first
    {
      pairs.append(pair)
      place = pair.destination
    }
    return pairs.filter { explicit[$0] == nil }
  }

  package mutating func add(_ mappings: [MappingModel]) {
    for mapping in mappings {
      let pairs = pairs(fitting: mapping)
      if pairs.isEmpty { unused.append(reason(unused: mapping)) }
      for pair in pairs { explicit[pair, default: []].append(mapping) }
    }
  }

  private func pairs(fitting mapping: MappingModel) -> [Pair] {
    let sources = places(
      mapping.sourceHashes, name: mapping.sourceModelName, checksum: mapping.sourceChecksum,
      entities: mapping.entityMappings.compactMap(\.sourceEntity))
    let destinations = places(
      mapping.destinationHashes, name: mapping.destinationModelName, checksum: mapping.destinationChecksum,
      entities: mapping.entityMappings.compactMap(\.destinationEntity))
    let pairs = sources.flatMap { source in destinations.map { Pair(source: source, destination: $0) } }
      .filter { keys[$0.source] != keys[$0.destination] }
    // A mapping model of few entities may fit many pairs, as most entities stay the same from version to version.
    let named = pairs.filter {
      versions[$0.source].name == mapping.sourceModelName
        && versions[$0.destination].name == mapping.destinationModelName
    }
    return named.isEmpty ? pairs : named
  }

  private func places(_ known: [String: [UInt8]], name: String?, checksum: String?, entities: [String]) -> [Int] {
    versions.indices.filter {
      Self.fits(versions[$0].name, hashes: hashes[$0], known: known, name: name, checksum: checksum, entities: entities)
    }
  }

  /// Whether a mapping model leads to a version.
  static func leads(_ mapping: MappingModel, to version: ManagedObjectModel) -> Bool {
    fits(
      version.name, hashes: version.versionHashes, known: mapping.destinationHashes, name: mapping.destinationModelName,
      checksum: mapping.destinationChecksum,
      entities: mapping.entityMappings.compactMap(\.destinationEntity))
  }

  /// Whether a version is the one that a mapping model knows by hashes, name or checksum.
  private static func fits(
    _ version: String, hashes: [String: [UInt8]], known: [String: [UInt8]], name: String?, checksum: String?,
    entities: [String]
  ) -> Bool {
    guard entities.allSatisfy({ hashes[$0] != nil }) else { return false }
    if let checksum { return ManagedObjectModel.versionChecksum(hashes) == checksum }
    // Without hashes only the name of the version is left; without both a mapping model would fit anything.
    guard !known.isEmpty else { return version == name }
    return known.allSatisfy { hashes[$0.key] == $0.value }
  }

  private func reason(unused mapping: MappingModel) -> String {
    let (from, to) = (mapping.sourceModelName, mapping.destinationModelName)
    let named = [from, to].map { name in self.versions.firstIndex { $0.name == name } }
    if let first = named[0], let second = named[1], keys[first] == keys[second] {
      return "the mapping model \(mapping.name) is for \(self.versions[first].name) to \(self.versions[second].name), "
        + "which are one version: their hashes are equal, and there is no step between them"
    }
    let differing = [
      misfit(from, mapping.sourceHashes, side: "source"),
      misfit(to, mapping.destinationHashes, side: "destination"),
    ].compactMap { $0 }
    let why = differing.isEmpty ? "" : ": " + differing.joined(separator: "; ")
    let versions = from.flatMap { from in to.map { ", made for \(from) to \($0)," } } ?? ""
    return "the mapping model \(mapping.name)\(versions) fits no two versions\(why)"
  }

  /// Why no version is the one that a mapping model knows by its name or, as compiled ones, by hashes alone.
  private func misfit(_ name: String?, _ known: [String: [UInt8]], side: String) -> String? {
    guard let name else {
      let entities = known.filter { entity, hash in !hashes.contains { $0[entity] == hash } }.keys.sorted()
      return entities.isEmpty
        ? nil : "no version has its \(side) entities with these hashes: \(entities.joined(separator: ", "))"
    }
    guard let place = versions.firstIndex(where: { $0.name == name }) else {
      let question = NearName.question(name, in: versions.map(\.name)).dropFirst(2)
      return question.isEmpty ? "\(name) is not known" : "\(name) is not known (\(question))"
    }
    let entities = known.filter { hashes[place][$0.key] != $0.value }.keys.sorted()
    return entities.isEmpty ? nil : "\(name) has other hashes for \(entities.joined(separator: ", "))"
  }
}
