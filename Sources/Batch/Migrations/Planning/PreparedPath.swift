import CoreDataModel
import CoreDataStore
import MappingModels
import RunSupport

/// What follows of a path from the tables of a store, whatever rows they have: what the rows must be asked, and which
/// steps become one pass.
struct PreparedPath: Sendable {
  /// What it depends on where inference alone makes the path, apart from the library.
  struct Key: Hashable {
    var path: ModelLibrary.PathKey
    var tables: [SchemaRow]
    /// Which steps are the bundle's own history.
    var histories: [Bool]
    var fuses: Bool
    var checksValues: Bool
  }

  /// Nil where rows are not to be asked.
  let requirements: InferredRequirements?
  /// Nil where each step is to take a pass of its own.
  let fusion: PathFusion?
  /// Nil where rows are not to be asked.
  let constraints: NewConstraints?
  /// What a person should know.
  let notes: [String]
  /// Of renaming identifiers that find nothing.
  let renamings: [String]
  /// Nil if policies have a say.
  let splits: [MappingSplit]?

  /// The steps, some of them made of several.
  let steps: [MigrationStep]
  /// How stores with these tables look.
  let looks = Memo<StepsLook.Key, StepsLook>(limit: 4)

  /// Prepares the steps for a store. Throws `badModel`.
  init(
    _ steps: [MigrationStep], renamings: [String], source: StoreBinding, schema: StoreSchema, checksValues: Bool,
    fuses: Bool, isStaged: Bool
  ) throws {
    let composed = try ComposedPath(steps, source: source.layout)
    requirements = checksValues ? InferredRequirements(steps, composed: composed) : nil
    fusion =
      fuses ? try PathFusion(steps, composed: composed, source: source, schema: schema, isStaged: isStaged) : nil
    self.steps = fusion?.steps ?? steps
    self.renamings = renamings
    let written = Set(self.steps.map(\.destination.name))
    constraints = checksValues ? NewConstraints(steps, composed: composed, written: written) : nil
    notes = InferredRequirements.newRelationships(steps) + (fusion?.notes ?? [])
    let isInferred = self.steps.allSatisfy { ($0.passed + [$0]).allSatisfy(\.isInferred) }
    splits = isInferred ? try self.steps.map { try MappingSplit($0, policies: PolicyRegistry()) } : nil
  }
}
