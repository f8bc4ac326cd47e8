import Codecs
import RunSupport

/// What reading an archive may cost: objects can be referred to from many places, so a small file can ask for endless
/// work.
package final class ArchiveBudget {
  private var left: Int
  package init(_ units: Int = 1 << 24) { left = units }

  /// Spends without refusing; the next call of ``spend(_:)`` does.
  func charge(_ units: Int) { left -= min(left, units + 1) }

  /// Throws ``BatchError`` when nothing is left.
  package func spend(_ units: Int) throws {
    charge(units)
    guard left > 0 else { throw BatchError(.badModel, "the archive refers to its objects too often to be read") }
  }
}

/// The fields of one archived description. What is not taken is left over and gets named.
struct ArchivedFields {
  let object: KeyedObject
  /// What the object is, for messages.
  let place: String
  let budget: ArchiveBudget
  /// What reading a description costs at least.
  private static let cost = 100
  private var rest: Set<String>

  init(_ object: KeyedObject, place: String, budget: ArchiveBudget) {
    self.object = object
    self.place = place
    self.budget = budget
    budget.charge(Self.cost + object.memberCount)
    rest = object.keys.subtracting(["$class"])
  }

  /// An object; nil when it is missing or `$null`.
  mutating func take(_ key: String) -> KeyedObject? {
    rest.remove(key)
    return object[key]
  }

  mutating func flag(_ key: String) -> Bool { take(key)?.boolean ?? false }

  mutating func integer(_ key: String) -> Int64? { take(key)?.integer }

  /// A text; nil when it is missing or empty.
  mutating func text(_ key: String) throws -> String? {
    guard let text = take(key)?.string, !text.isEmpty else { return nil }
    try budget.spend(text.utf8.count)
    return text
  }

  mutating func list(_ key: String) throws -> [KeyedObject] { try members(of: take(key)) }

  mutating func entries(_ key: String) throws -> [(key: String, value: KeyedObject)] {
    guard let object = take(key) else { return [] }
    try budget.spend(object.memberCount)
    return try (object.dictionary ?? []).compactMap { key, value in
      guard let key = key.string else { return nil }
      try budget.spend(key.utf8.count)
      return (key, value)
    }
  }

  /// Entries whose values are texts; the others are named as not understood.
  mutating func userInfo() throws -> [String: String] {
    var texts: [String: String] = [:]
    for (key, value) in try entries("NSUserInfo") {
      guard let text = value.string else {
        rest.insert("NSUserInfo.\(key)")
        continue
      }
      try budget.spend(text.utf8.count)
      texts[key] = text
    }
    return texts
  }

  func members(of object: KeyedObject?) throws -> [KeyedObject] {
    guard let object else { return [] }
    try budget.spend(object.memberCount)
    return object.array ?? []
  }

  func texts(of object: KeyedObject) throws -> [String] {
    try members(of: object).compactMap { member in
      let text = member.string ?? member["NSPropertyName"]?.string
      try budget.spend(text?.utf8.count ?? 0)
      return text
    }
  }

  /// Notes what is not understood.
  mutating func leave(_ what: String) { rest.insert(what) }

  /// Names the fields that say something and were not taken, each with its place.
  func unknown() throws -> [String] {
    try rest.filter { object.keys.contains($0) ? object[$0] != nil : true }.sorted().map { name in
      try budget.spend(name.utf8.count + place.utf8.count)
      return "\(place): \(name)"
    }
  }

  func problem(_ reason: String) -> BatchError { BatchError(.badModel, "\(place) \(reason)") }
}
