import Batch

/// Users of objc.io's example move by their mapping alone. The policy is there for a mapping that a project still names
/// it in.
struct MHWUserToUserPolicy: EntityMigrationPolicy {}
