/// Something that a check found.
struct LockFinding: Encodable {
  enum Level: String, Encodable { case error, warning, note }

  enum Rule: String, Encodable, CaseIterable {
    case changed = "locked-version-changed"
    case missing = "locked-version-missing"
    case unlocked = "version-not-locked"
    case drop = "step-drops-data"
    case mapping = "step-needs-mapping"

    var level: Level {
      switch self {
      case .changed, .missing: .error
      case .drop, .mapping: .warning
      case .unlocked: .note
      }
    }

    /// What it means, in a sentence.
    var meaning: String {
      switch self {
      case .changed: "A version of the model that was shipped changed: its stores cannot be opened."
      case .missing: "A version of the model that was shipped is gone: its stores cannot be migrated."
      case .unlocked: "A version of the model is not in the lock."
      case .drop: "The step to a new version drops data."
      case .mapping: "The step to a new version cannot be inferred."
      }
    }
  }

  let rule: Rule
  var level: Level { rule.level }
  let version: String
  var entity: String?
  var property: String?
  let message: String
  /// What to do; nil where the message says it.
  var advice: String?
  /// Whole commands that lead on.
  var next: [String] = []
  var file: String?
  var line: Int?

  private enum Key: String, CodingKey {
    case rule, level, version, entity, property, message, advice, next, file, line
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(rule, forKey: .rule)
    try container.encode(level, forKey: .level)
    try container.encode(version, forKey: .version)
    try container.encodeIfPresent(entity, forKey: .entity)
    try container.encodeIfPresent(property, forKey: .property)
    try container.encode(message, forKey: .message)
    try container.encodeIfPresent(advice, forKey: .advice)
    try container.encode(next, forKey: .next)
    try container.encodeIfPresent(file, forKey: .file)
    try container.encodeIfPresent(line, forKey: .line)
  }
}
