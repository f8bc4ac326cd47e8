import RunSupport

/// A `SchemaMigrationPlan`, as sources write it.
package struct SwiftDataPlan: Sendable {
  /// The type's name.
  package let name: String
  /// Where it is declared.
  package let place: SourcePlace
  /// The stages in their order; fails if they cannot be read, which matters to migrations alone.
  package let stages: Result<[Stage], BatchError>

  /// A stage of the plan.
  package struct Stage: Sendable, Equatable {
    /// The names of the versions that it leads from and to, as `1.0.0`.
    package let from: String
    /// See ``from``.
    package let to: String
    /// Whether it is custom with a closure, which only SwiftData can run.
    package let hasCode: Bool
    /// Where it is written.
    package let place: SourcePlace
  }
}
