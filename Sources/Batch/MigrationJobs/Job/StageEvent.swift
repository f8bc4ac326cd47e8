import CoreDataModel

/// What the handler of a ``MigrationJob`` gets of a custom stage of a ``StagedMigration``, as NSCustomMigrationStage
/// tells its `willMigrateHandler` and `didMigrateHandler`.
///
/// The store is finished, but before the last step it has no indexes, and after it, nothing is verified yet. It is
/// there to be read: a handler that changes it ends the run. What has to be changed belongs into a policy. A handler
/// may be called again for the same stage when a run is resumed.
public struct StageEvent: Sendable {
  /// When a handler is called.
  public enum Moment: String, Sendable {
    /// Before the first object of the stage is migrated.
    case willMigrate
    /// After the last one.
    case didMigrate
  }

  /// When it is called.
  public var moment: Moment
  /// The version before the stage.
  public var source: ManagedObjectModel
  /// The version after the stage.
  public var destination: ManagedObjectModel
  /// The path of the store: before the stage its input, which at first is the source itself; after the stage its
  /// result.
  public var store: String
}

/// Is called before and after every custom stage. An error that it throws ends the run, which can be resumed.
public typealias StageHandler = @Sendable (StageEvent) throws -> Void
