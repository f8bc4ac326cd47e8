import CoreDataModel
import MappingModels
import RunSupport

/// One step of a path: from one version to another, by one or several mapping models together.
public struct MigrationStep: Sendable, Equatable {
  /// The version that the mapping models read: the one before the step, or, where steps are ``passed``, the last of
  /// those between.
  public let source: ManagedObjectModel
  /// The version after the step.
  public let destination: ManagedObjectModel
  /// The mapping models of the step; they cover disjoint parts.
  public internal(set) var mappingModels: [MappingModel] { didSet { facts = ModelFacts() } }
  /// Whether the mapping model was inferred from the two versions.
  public let isInferred: Bool
  /// Why this step was chosen, for a plan that people read.
  public let reason: String
  /// The versions between, where several steps are made in one pass.
  public let passedVersions: [String]
  /// Steps that the same pass makes before, row by row: the versions between are in no file.
  public let passed: [MigrationStep]
  /// Whether the step goes forward in the version history of a bundle. What its destination lacks was then dropped by
  /// the model's author.
  package var isHistory = true { didSet { facts = ModelFacts() } }
  /// Whether the step leads from a version to itself for the metadata alone: they are made anew from the model.
  package internal(set) var renewsMetadata = false { didSet { facts = ModelFacts() } }
  /// Whether its mapping model was made of those of several steps: then what it leaves out, nobody has written.
  package var isComposed = false { didSet { facts = ModelFacts() } }
  /// What was found out about the step, for all stores that take it.
  private(set) var facts = ModelFacts()

  /// The version of the store that the step reads.
  public var origin: ManagedObjectModel { passed.first?.source ?? source }

  /// About the memory that its models take, in bytes, as measured with 90 versions of 220 properties.
  package var modelBytes: Int {
    let own = [source, destination].flatMap(\.entities).reduce(0) { $0 + $1.attributes.count + $1.relationships.count }
    return own * 160 + passed.reduce(0) { $0 + $1.modelBytes }
  }

  /// Whether the step leads from a version to itself. Then every row is written again, and all that the model does not
  /// know is kept, the metadata as well.
  public var isIdentity: Bool { source == destination && !renewsMetadata }

  /// Makes a step.
  public init(
    source: ManagedObjectModel, destination: ManagedObjectModel, mappingModels: [MappingModel], isInferred: Bool,
    reason: String, passedVersions: [String] = [], passed: [MigrationStep] = []
  ) {
    self.source = source
    self.destination = destination
    self.mappingModels = mappingModels
    self.isInferred = isInferred
    self.reason = reason
    self.passedVersions = passedVersions
    self.passed = passed
  }
}

extension MigrationStep {
  /// The step that mapping models make up together; nil with what stands against it.
  static func mapped(
    _ given: [MappingModel], from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) -> (step: MigrationStep?, problems: [String]) {
    let partial = MappingModel.expanded(given, source: source, destination: destination)
    let models = MappingCompletion(models: partial, source: source, destination: destination).completed()
    let problems =
      partial.flatMap { MappingCheck(model: $0, source: source, destination: destination).problems() }
      + ToOneCheck(models: models, source: source, destination: destination).problems()
      + StepCoverage.problems(models, from: source, to: destination)
    guard problems.isEmpty else { return (nil, problems) }
    let names = models.map(\.name).joined(separator: " and ")
    let reason = models.count == 1 ? "the mapping model \(names) fits" : "the mapping models \(names) fit together"
    let step = MigrationStep(
      source: source, destination: destination, mappingModels: models, isInferred: false, reason: reason)
    return (step, [])
  }

  /// The step that is inferred from two versions. Throws ``BatchError`` with what cannot be inferred.
  static func inferred(
    from source: ManagedObjectModel, _ sourceHashes: [String: [UInt8]], to destination: ManagedObjectModel,
    _ destinationHashes: [String: [UInt8]], reason: String
  ) throws -> MigrationStep {
    let model = try MappingModel.inferred(
      from: source, to: destination, sourceHashes: sourceHashes, destinationHashes: destinationHashes)
    return MigrationStep(
      source: source, destination: destination, mappingModels: [model], isInferred: true, reason: reason)
  }
}

extension MigrationStep {
  /// The step that makes a store's metadata and model cache those of the version that its tables are. Throws
  /// ``BatchError`` with what cannot be inferred.
  static func renewal(from source: ManagedObjectModel, to destination: ManagedObjectModel) throws -> MigrationStep {
    var step = MigrationStep(
      source: source, destination: destination, mappingModels: [try .inferred(from: source, to: destination)],
      isInferred: true, reason: "the tables are those of the version already, and the metadata become so")
    step.renewsMetadata = true
    return step
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
    let mappings = mappingModels.flatMap(\.entityMappings)
    let covered = Set(mappings.compactMap(\.destinationEntity) + mappings.compactMap(\.sourceEntity))
    let gaps = destination.entities.filter {
      !covered.contains($0.name) && source.entity($0.name)?.isAbstract == false
    }
    let open = gaps.filter { !$0.isAbstract }.map(\.name)
    return doubled(mappingModels) + (open.isEmpty ? [] : [missing(open, in: mappingModels.map(\.name))])
      + gaps.filter(\.isAbstract).map { placeless($0.name, in: destination) }
  }

  private static func placeless(_ entity: String, in destination: ManagedObjectModel) -> String {
    "\(entity) may have objects of its own, and is abstract in \(destination.name): say what they become, as in "
      + "- { from: \(entity), to: ENTITY }, or drop them with - remove: [\(entity)]"
  }

  private static func doubled(_ mappingModels: [MappingModel]) -> [String] {
    var owners: [[String?]: MappingModel] = [:]
    var doubled: [[String]: [String]] = [:]
    for model in mappingModels {
      for mapping in model.entityMappings {
        let pair = [mapping.sourceEntity, mapping.destinationEntity]
        if let owner = owners[pair], owner != model {
          doubled[[owner.name, model.name], default: []].append(mapping.name)
        }
        owners[pair] = model
      }
    }
    return doubled.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { names, mappings in
      "\(both(names)) \(mappings.uniqued.joined(separator: ", "))"
    }
  }

  /// The beginning of what is said of two mapping models that map the same.
  package static func both(_ names: [String]) -> String {
    "the mapping models \(names.joined(separator: " and ")) both have"
  }

  /// First what keeps the objects, then what drops them.
  private static func missing(_ entities: [String], in models: [String]) -> String {
    let subject = models.count == 1 ? "the mapping model" : "the mapping models"
    let (them, all) = (entities.count == 1 ? "it" : "them", entities.joined(separator: ", "))
    let lines = entities.map { "- \($0)" }.joined(separator: " and ")
    return
      "\(subject) \(models.joined(separator: ", ")) \(models.count == 1 ? "does" : "do") not name \(all): if another "
      + "mapping model of the step has \(them), name that one as well; else carry \(them) with \(lines) in the entities "
      + "of a mapping file, or with others: true; to drop \(them), write - remove: [\(all)] there"
  }
}
