import CoreDataModel
import MappingModels
import RunSupport

/// What is in a model's bundle: its versions in order, and which steps between neighbours can be inferred.
public struct ModelInspection: Sendable, Codable {
  /// One version.
  public struct Version: Sendable, Codable {
    /// The name.
    public var name: String
    /// Whether it is the version that the bundle names as the current one.
    public var isCurrent: Bool
    /// Entities, abstract ones too.
    public var entities: Int
    /// `userDefinedModelVersionIdentifier`.
    public var identifiers: [String]
    /// NSStoreModelVersionChecksumKey of its stores (A.6).
    public var checksum: String
    /// What a store cannot be made with; nil for a sound version.
    public var problem: String?
  }

  /// The step from a version to the next one.
  public struct Step: Sendable, Codable {
    /// The version before the step.
    public var from: String
    /// The version after it.
    public var to: String
    /// Whether all version hashes are equal. Then stores of the one are stores of the other.
    public var isEqual: Bool
    /// Whether a mapping model can be inferred (E.1, E.2).
    public var isInferable: Bool
    /// Why not, one sentence for each entity or property.
    public var reasons: [String]
  }

  /// The bundle's name.
  public var name: String
  /// Its path.
  public var path: String
  /// The version that it names as the current one; nil if it names none.
  public var currentVersion: String?
  /// Its versions, in order.
  public var versions: [Version]
  /// The steps between neighbours, in order.
  public var steps: [Step]

  /// What in a compiled model contradicts itself.
  public var warnings: [String]

  /// Looks at a bundle.
  public init(_ bundle: ModelBundle) {
    warnings = bundle.warnings
    let checksums = bundle.versions.map(\.versionChecksum)
    name = bundle.name
    path = bundle.path
    currentVersion = bundle.currentVersion
    versions = zip(bundle.versions, checksums).map { version, checksum in
      Version(
        name: version.name, isCurrent: version.name == bundle.currentVersion, entities: version.entities.count,
        identifiers: version.versionIdentifiers, checksum: checksum,
        problem: Self.problem(version))
    }
    steps = bundle.versions.indices.dropFirst().map { place in
      Self.step(
        bundle.versions[place - 1], destination: bundle.versions[place],
        isEqual: checksums[place - 1] == checksums[place]
          && bundle.versions[place - 1].hasColumns(of: bundle.versions[place]),
        refusal: bundle.migrations.refusal(from: checksums[place - 1], to: checksums[place], order: checksums))
    }
  }

  private static func problem(_ model: ManagedObjectModel) -> String? {
    do {
      try model.validate()
      return nil
    } catch {
      return message(error)
    }
  }

  private static func step(
    _ source: ManagedObjectModel, destination: ManagedObjectModel, isEqual: Bool, refusal: String?
  ) -> Step {
    let obstacles = ModelDifference(from: source, to: destination).obstacles
    let reasons = [refusal].compactMap(\.self) + obstacles.map { "\($0.place): \($0.reason)" }
    return Step(
      from: source.name, to: destination.name, isEqual: isEqual, isInferable: reasons.isEmpty, reasons: reasons)
  }

  private static func message(_ error: any Error) -> String { (error as? BatchError)?.message ?? "\(error)" }
}

extension Obstacle {
  /// `Entity`, or `Entity.property`; several with "and" between them.
  public var place: String {
    let names = properties.isEmpty ? entities : properties.map { "\(entities.first ?? "").\($0)" }
    return names.joined(separator: " and ")
  }
}
