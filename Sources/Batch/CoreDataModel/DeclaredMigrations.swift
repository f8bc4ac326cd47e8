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
  /// Checksums of versions that stand in the place of another one, each with that version's: `1.0.0@1.0` in that of
  /// `1.0.0`.
  package var places: [String: String] = [:]
  /// Why the steps cannot be known, with file and line; nil if they are.
  package var problem: String?

  package init() {}

  /// Why the step between two versions cannot be inferred, by their checksums; nil if it can, as far as sources say.
  /// `order` has the checksums of all versions in their order: a step must not pass over a stage with code, either, and
  /// of a version that is none of them nobody knows which stages it needs.
  package func refusal(from: String, to: String, order: [String]) -> String? {
    if let problem { return "how it is migrated cannot be read: \(problem)" }
    if let stage = custom.first(where: { place($0.from) == place(from) && place($0.to) == place(to) }) {
      return "its stage runs code of the application (\(stage.place)), which SwiftData alone can do"
    }
    // Between versions of one checksum there is no other stage.
    guard place(from) != place(to) else { return nil }
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

  private func place(_ checksum: String) -> String { places[checksum] ?? checksum }

  /// Whether a step and a stage have a part of the way in common. Of versions that are equal the one counts by which they
  /// have more of it.
  private func isPassed(_ stage: Custom, from: String, to: String, order: [String]) -> Bool {
    let first = { (checksum: String) in order.firstIndex(of: place(checksum)) }
    let last = { (checksum: String) in order.lastIndex(of: place(checksum)) }
    guard let start = first(from), let end = last(to), let begin = first(stage.from), let finish = last(stage.to) else {
      return false
    }
    return begin < end && start < finish
  }
}
