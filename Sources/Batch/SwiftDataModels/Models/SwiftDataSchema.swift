import CoreDataModel
import RunSupport

/// What the sources of one commit say.
package struct SwiftDataSchema: Sendable {
  /// The versions in their order; none if there is no model.
  package var versions: [ManagedObjectModel]
  /// The migration plan, if there is one.
  package var plan: SwiftDataPlan?

  /// Adds what the plan says about the steps.
  func declare(_ migrations: inout DeclaredMigrations) {
    switch plan?.stages {
    case nil: break
    case .failure(let error)?:
      migrations.problem = [error.path, error.message].compactMap(\.self).joined(separator: ": ")
    case .success(let stages)?:
      let checksums = Dictionary(versions.map { ($0.name, $0.versionChecksum) }) { first, _ in first }
      migrations.custom += stages.filter(\.hasCode).compactMap { stage in
        guard let from = checksums[stage.from], let to = checksums[stage.to] else { return nil }
        return .init(from: from, to: to, place: "\(stage.place)")
      }
    }
  }
}
