import CoreDataStore
import RunSupport
import Streams

/// What is to be known of how objects are found again.
struct ContentsNotes {
  let old: StoreReader
  let new: StoreReader
  let options: ContentsDifference.Options

  /// - Throws: ``BatchError`` (`refused`) for a key that nothing in both states has.
  func list(_ pairs: [ContentsPair]) throws -> [String] {
    if let key = options.key, !pairs.contains(where: { $0.has(key) }) { throw refusal(of: key, pairs) }
    let both = pairs.filter { $0.old != nil && $0.new != nil }
    return strangers + both.compactMap(pairing)
      + both.filter { !$0.unshared.isEmpty }.map {
        "\($0.name): only one state has \($0.unshared.joined(separator: ", "))"
      }
  }

  private var strangers: [String] {
    guard old.metadata.uuid != new.metadata.uuid else { return [] }
    let start = "the stores have different UUIDs"
    return options.key == nil
      ? [
        "\(start), so objects of one Z_PK may be different ones: compare them by an attribute that objects keep, with "
          + "--by ATTRIBUTE"
      ] : ["\(start): relationships and links are compared by Z_PK all the same"]
  }

  /// How objects of a table are found again; nil if that goes without saying.
  private func pairing(_ pair: ContentsPair) -> String? {
    let key = options.key.flatMap { pair.has($0) ? $0 : nil }
    guard pair.pairing != .oneTable else {
      return key == nil ? options.key.map { "\(pair.name): compared by Z_PK, as it has no \($0)" } : nil
    }
    let place =
      "\(pair.name): in the table \(pair.old?.schema.name ?? "") of the old store and \(pair.new?.schema.name ?? "") of "
      + "the new one"
    if let key { return "\(place), compared by \(key); relationships to them are compared by Z_PK all the same" }
    guard pair.pairing == .apart else { return "\(place), compared by Z_PK" }
    let why = options.key.map { "they have no \($0)" } ?? "compare them with --by ATTRIBUTE"
    return "\(place), which give keys independently, so all are listed as removed and added: \(why)"
  }

  private func refusal(of key: String, _ pairs: [ContentsPair]) -> BatchError {
    let known = Set(pairs.flatMap { $0.shared }).sorted(by: NameOrder.codeUnits)
    let owner = options.entity.map { "\($0) has no attribute" } ?? "no entity has an attribute"
    let common = known.isEmpty ? "no attribute in both stores" : known.joined(separator: ", ")
    return BatchError(
      .refused, "\(owner) \(key) in both stores\(NearName.question(key, in: known))",
      hint: options.entity.map { "\($0) has \(common)" } ?? "With --entity ENTITY the attributes are listed",
      path: new.path)
  }
}
