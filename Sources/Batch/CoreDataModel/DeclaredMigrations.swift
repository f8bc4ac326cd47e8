/// What a model's sources say about the steps between its versions: a `SchemaMigrationPlan` of SwiftData.
package struct DeclaredMigrations: Sendable, Equatable {
  /// A step that the application's own code makes.
  package struct Custom: Sendable, Equatable {
    /// The checksums of the two versions (A.6).
    package let from: String
    package let to: String
    /// Where it is written: `File.swift:12`.
    package let place: String

    package init(from: String, to: String, place: String) { (self.from, self.to, self.place) = (from, to, place) }
  }

  package var custom: [Custom] = []
  /// Why the steps cannot be known, with file and line; nil if they are.
  package var problem: String?

  package init() {}

  /// Why the step between two versions cannot be inferred, by their checksums; nil if it can, as far as sources say.
  /// `order` has the checksums of all versions in their order: a step must not pass over a stage with code, either, and
  /// of a version that is none of them nobody knows which stages it needs.
  package func refusal(from: String, to: String, order: [String]) -> String? {
    if let problem { return "how it is migrated cannot be read: \(problem)" }
    if let stage = custom.first(where: { $0.from == from && $0.to == to }) {
      return "its stage runs code of the application (\(stage.place)), which SwiftData alone can do"
    }
    guard order.contains(from) else {
      let end = order.firstIndex(of: to) ?? 0
      let stage = custom.first { stage in order.firstIndex(of: stage.to).map { $0 <= end } ?? false }
      return stage.map {
        "the sources do not have the first version, and a stage before the second one runs code of the application "
          + "(\($0.place)), which SwiftData alone can do"
      }
    }
    guard let stage = custom.first(where: { isPassed($0, from: from, to: to, order: order) }) else { return nil }
    return "it passes over a stage that runs code of the application (\(stage.place)), which SwiftData alone can do"
  }

  /// Whether a step and a stage have a part of the way in common.
  private func isPassed(_ stage: Custom, from: String, to: String, order: [String]) -> Bool {
    let place = { (checksum: String) in order.firstIndex(of: checksum) }
    guard let start = place(from), let end = place(to), let first = place(stage.from), let last = place(stage.to) else {
      return false
    }
    return first < end && start < last
  }
}
