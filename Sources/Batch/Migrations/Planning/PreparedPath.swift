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

  /// Prepares the steps for a store. Throws `badModel`.
  init(
    _ steps: [MigrationStep], source: StoreBinding, schema: StoreSchema, checksValues: Bool, fuses: Bool, isStaged: Bool
  ) throws {
    (requirements, fusion) = try concurrently {
      checksValues ? try InferredRequirements(steps, source: source.layout) : nil
    } and: {
      fuses ? try PathFusion(steps, source: source, schema: schema, isStaged: isStaged) : nil
    }
  }
}
