import CoreDataModel
import RunSupport

/// What the model's author asks of a sample, by entries of user infos. A value that cannot be followed is an error: a
/// typing mistake must not give another sample than was meant.
struct SampleSettings {
  /// Entries of an entity's or an attribute's user info.
  enum Key {
    /// Entity: its weight in the distribution of objects, a positive number; 1 when absent.
    static let share = "godwit.sample.share"
    /// Attribute: how many different values there are, at most.
    static let distinct = "godwit.sample.distinct"
    /// Text attribute: what every value begins with.
    static let prefix = "godwit.sample.prefix"
    /// Attribute: `never` keeps NULL out of an optional one.
    static let null = "godwit.sample.null"
    /// Attribute: `never` keeps out the values at the borders of its type.
    static let edges = "godwit.sample.edges"
  }

  private static let longestPrefix = 1_000

  /// How many different values there are; nil: as many as may be.
  let distinct: UInt64?
  /// What every text begins with.
  let prefix: [UInt8]
  /// Whether the value may be missing.
  let hasGaps: Bool

  /// Whether values may lie at the limits of the type. Not if their number or their beginning is given.
  let hasEdges: Bool

  /// Reads an attribute's entries. Throws ``BatchError`` (`badModel`).
  init(_ attribute: AttributeDescription, entity: String) throws {
    func failure(_ key: String, _ value: String, wanted: String) -> BatchError {
      BatchError(
        .badModel,
        "attribute \(attribute.name) has \(key) = \(value.prefix(40)) in its user info, which is not \(wanted)",
        hint: "Correct or remove the entry", entity: entity)
    }
    distinct = try attribute.userInfo[Key.distinct].map { text in
      guard let count = UInt32(text), count > 0 else {
        throw failure(Key.distinct, text, wanted: "a whole number from 1 to \(UInt32.max)")
      }
      return UInt64(count)
    }
    let text = attribute.userInfo[Key.prefix] ?? ""
    guard text.isEmpty || attribute.type == .string || attribute.type == .uri, text.utf8.count <= Self.longestPrefix
    else {
      throw failure(Key.prefix, text, wanted: "a text of at most \(Self.longestPrefix) bytes for a text attribute")
    }
    prefix = Array(text.utf8)
    if let word = attribute.userInfo[Key.null], word != "never" {
      throw failure(Key.null, word, wanted: "the word never")
    }
    if let word = attribute.userInfo[Key.edges], word != "never" {
      throw failure(Key.edges, word, wanted: "the word never")
    }
    hasEdges = distinct == nil && prefix.isEmpty && attribute.userInfo[Key.edges] == nil
    hasGaps = attribute.isOptional && attribute.userInfo[Key.null] == nil
  }

  /// The weight of an entity. Throws ``BatchError`` (`badModel`).
  static func share(_ entity: EntityDescription) throws -> Double {
    guard let text = entity.userInfo[Key.share] else { return 1 }
    guard let share = Double(text), share > 0, share.isFinite else {
      throw BatchError(
        .badModel, "\(Key.share) = \(text.prefix(40)) in the user info is not a positive number",
        hint: "Correct or remove the entry", entity: entity.name)
    }
    return share
  }

  /// Distributes `rows` objects over the entities that can have some, in the order of the names given.
  static func counts(_ model: ManagedObjectModel, names: [String], rows: UInt64) throws -> [String: UInt64] {
    let entities = names.compactMap { model.entity($0) }.filter { !$0.isAbstract }
    let shares = try entities.map(share)
    let total = shares.reduce(0, +)
    guard rows == 0 || (total > 0 && total.isFinite) else {
      throw BatchError(
        .badModel, "model \(model.name) has no entity that can have objects, or shares beyond counting",
        hint: "Give it an entity that is not abstract, and smaller shares")
    }
    var counts: [String: UInt64] = [:]
    var (sum, given) = (0.0, UInt64(0))
    for (position, entity) in entities.enumerated() {
      sum += shares[position]
      // Rounding the running sum, not each share, makes the counts add up to the number asked for.
      let isLast = position == entities.count - 1
      let end = isLast ? rows : max(given, min(rows, UInt64(Double(rows) * (sum / total))))
      counts[entity.name] = end - given
      given = end
    }
    return counts
  }
}
