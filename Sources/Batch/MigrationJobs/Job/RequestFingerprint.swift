import Migrations

extension MigrationJob {
  /// The fingerprint of what a plan does with any store, at whatever time.
  package func fingerprint(of plan: MigrationPlan, _ request: Request) throws -> [UInt8] {
    try PlanFingerprint.of(
      steps: plan.steps, extras: request.extras, indexes: request.indexBuilding, policies: policies, now: 0)
  }
}
