import Batch
import Foundation

/// What to do about what a check found.
struct LockAdvice {
  let bundle: ModelBundle
  let places: ModelPlaces
  let options: LockOptions

  /// For a locked version that changed; with the command for a version that nobody has yet.
  func changed(_ change: LockComparison.Change) -> (text: String, next: AdvisedCommand) {
    let update = options.command("lock", ["--update", change.version])
    let steps = [
      "Put \(change.version) back as it was", newVersion(change),
      "If no store of \(change.version) is left anywhere: \(update)",
    ]
    return (steps.joined(separator: ". "), update)
  }

  private func newVersion(_ change: LockComparison.Change) -> String {
    guard isSwiftData else {
      let mapping = change.obstacles.first.map { "; the step needs a mapping model (\($0))" } ?? ""
      return "Make the change in a new model version (in Xcode: Editor > Add Model Version)\(mapping)"
    }
    guard let last = bundle.versions.last.flatMap({ places.versions[$0.name]?.type }) else {
      return "Make it a VersionedSchema, and the change in a second one, with a SchemaMigrationPlan that has both and "
        + stage(from: "SchemaV1", to: "SchemaV2", change)
    }
    let next = Self.next(last)
    return "Make the change in a new VersionedSchema, \(next), and add both to the SchemaMigrationPlan: "
      + "\(next).self to its schemas, and to its stages \(stage(from: last, to: next, change))"
  }

  private func stage(from: String, to: String, _ change: LockComparison.Change) -> String {
    guard let obstacle = change.obstacles.first else {
      return ".lightweight(fromVersion: \(from).self, toVersion: \(to).self)"
    }
    return ".custom(fromVersion: \(from).self, toVersion: \(to).self, willMigrate: …, didMigrate: …), "
      + "since it is not lightweight (\(obstacle))"
  }

  private var isSwiftData: Bool { bundle.versions.contains(where: \.isUsedWithSwiftData) }

  /// `SchemaV3` of `SchemaV2`.
  static func next(_ type: String) -> String {
    let digits = String(type.reversed().prefix { $0.isASCII && $0.isNumber }.reversed())
    guard let number = Int(digits), number < Int.max else { return type + "Next" }
    return type.dropLast(digits.count) + "\(number + 1)"
  }

  func missing(_ version: String) -> LockFinding {
    let update = options.command("lock", ["--update", version])
    return LockFinding(
      rule: .missing, version: version,
      message: "version \(version) is locked, and the sources do not have it: its stores cannot be migrated",
      advice: "Put the version back\(isSwiftData ? ", and into the SchemaMigrationPlan" : ""). "
        + "If no store of \(version) is left anywhere: \(update)", next: [update.line])
  }

  func unlocked(_ version: String, _ place: ModelPlaces.Place?) -> LockFinding {
    let command = options.command("lock")
    return LockFinding(
      rule: .unlocked, version: version, message: "version \(version) is not locked yet",
      advice: "Lock it before you ship it: \(command)", next: [command.line], file: place?.file, line: place?.line)
  }
}
