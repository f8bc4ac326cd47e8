import CoreDataModel
import MappingModels
import RunSupport

/// The way from one version to another as stages that a person wrote down, as NSStagedMigrationManager has it (E.4).
///
/// A store enters at the stage that names its version's checksum, and passes every version that the stages name from
/// there on, one after the other; nothing is left out, and no version in between is added. `godwit models` prints
/// checksums (A.6). Wherever a checksum is asked for, a version's name will do, as `Version` or `Bundle/Version`.
public struct StagedMigration: Sendable, Equatable, Codable {
  /// One stage.
  public enum Stage: Sendable, Equatable, Codable {
    /// Versions of which each one is inferred from the one before.
    case lightweight(versionChecksums: [String])
    /// One step by mapping models, by their names; without names by all that fit both versions.
    case custom(from: String, to: String, mappingModels: [String] = [])
  }

  /// The stages, in order. The step from the last version of a stage to the first one of the next is inferred.
  public var stages: [Stage]

  /// Makes a staged migration of its stages.
  public init(stages: [Stage]) { self.stages = stages }

  /// Reads stages from a YAML or JSON file.
  ///
  /// - Throws: ``BatchError`` (`badMapping`) with the line.
  public init(path: String) throws { self.init(stages: try StagesReader.stages(try MappingDocument.read(path))) }

  /// The version that the stages lead to.
  func target(in library: ModelLibrary) throws -> ManagedObjectModel {
    guard let last = stages.last else { throw Self.empty }
    let reference =
      switch last {
      case .lightweight(let versions): versions.last ?? ""
      case .custom(_, let destination, _): destination
      }
    return try library.version(of: reference, stage: stages.count)
  }

  static var empty: BatchError { BatchError(.badMapping, "there are no stages", hint: "Name at least one") }
}

extension ModelLibrary {
  /// The version with that checksum or of that name.
  func version(of reference: String, stage: Int, besides extra: [ManagedObjectModel] = []) throws -> ManagedObjectModel
  {
    let all = versions + extra
    if let found = all.first(where: { checksum(of: $0) == reference }) { return found }
    if let named = try? target(named: reference) { return named }
    throw BatchError(
      .noModel, "stage \(stage) names the version \(reference), which no model has, or several have",
      hint: "Supply its model, or use the checksum that \(ProgramName.current) models prints. \(knownVersions)")
  }
}

/// Reads the `stages` of a file.
enum StagesReader {
  private static let file = MappingFileObject(title: "the file", definition: "stages", keys: ["stages"])
  private static let stage = MappingFileObject(
    title: "a stage", definition: "stage", keys: ["lightweight", "from", "to", "mappings"])

  static func stages(_ root: MappingNode) throws -> [StagedMigration.Stage] {
    guard let list = try root.fields(file)["stages"] else { throw root.failure("the file has no stages", file.allowed) }
    let stages = try list.list("stages").map(read)
    guard !stages.isEmpty else { throw list.failure("there are no stages", "Name at least one") }
    return stages
  }

  private static func read(_ node: MappingNode) throws -> StagedMigration.Stage {
    let fields = try node.fields(stage)
    let hint = "A stage has either lightweight, a list of versions, or from and to"
    if let versions = fields["lightweight"] {
      guard fields.count == 1 else { throw node.failure("a lightweight stage has nothing else", hint) }
      return .lightweight(versionChecksums: try texts(versions, "lightweight"))
    }
    guard let from = fields["from"], let to = fields["to"] else {
      throw node.failure("the stage names no versions", hint)
    }
    return .custom(
      from: try from.text("from"), to: try to.text("to"),
      mappingModels: try fields["mappings"].map { try texts($0, "mappings") } ?? [])
  }

  private static func texts(_ node: MappingNode, _ what: String) throws -> [String] {
    try node.list(what).map { try $0.text("an element of \(what)") }
  }
}
