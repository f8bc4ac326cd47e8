/// One step of a path: from one version to another, by one or several mapping models together.
public struct MigrationStep: Sendable, Equatable {
  /// The version before the step.
  public let source: ManagedObjectModel
  /// The version after the step.
  public let destination: ManagedObjectModel
  /// The mapping models of the step; they cover disjoint parts.
  public let mappingModels: [MappingModel]
  /// Was the mapping model inferred from the two versions?
  public let isInferred: Bool
  /// Why this step was chosen, for a plan that people read.
  public let reason: String
  /// The versions between, where several steps are made in one pass.
  public let passedVersions: [String]

  /// Does the step lead from a version to itself? Then every row is written again, and all that the model does not know is kept.
  public var isIdentity: Bool { source == destination }

  /// Makes a step.
  public init(
    source: ManagedObjectModel, destination: ManagedObjectModel, mappingModels: [MappingModel], isInferred: Bool,
    reason: String, passedVersions: [String] = []
  ) {
    self.source = source
    self.destination = destination
    self.mappingModels = mappingModels
    self.isInferred = isInferred
    self.reason = reason
    self.passedVersions = passedVersions
  }
}

/// Whether mapping models together make up one step.
enum StepCoverage {
  /// What stands against it: two mapping models that map the same, and entities that none maps. Empty when it fits.
  ///
  /// An entity that both versions have must be mapped, from its old objects or to its new ones: nothing is copied and
  /// nothing dropped that no mapping names. An entity that only the destination has may be left out; it starts without
  /// objects.
  static func problems(
    _ mappingModels: [MappingModel], from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) -> [String] {
    var problems: [String] = []
    var owners: [[String?]: MappingModel] = [:]
    var covered: Set<String> = []
    var read: Set<String> = []
    for model in mappingModels {
      for mapping in model.entityMappings {
        covered.formUnion([mapping.destinationEntity].compactMap { $0 })
        read.formUnion([mapping.sourceEntity].compactMap { $0 })
        let pair = [mapping.sourceEntity, mapping.destinationEntity]
        if let owner = owners[pair], owner != model {
          problems.append("the mapping models \(owner.name) and \(model.name) both have \(mapping.name)")
        }
        owners[pair] = model
      }
    }
    let gaps = destination.entities.filter { entity in
      !entity.isAbstract && !covered.contains(entity.name) && !read.contains(entity.name)
        && source.entity(entity.name)?.isAbstract == false
    }
    if !gaps.isEmpty {
      let names = mappingModels.map(\.name).joined(separator: ", ")
      problems.append("\(names) leave out \(gaps.map(\.name).joined(separator: ", "))")
    }
    return problems
  }
}
