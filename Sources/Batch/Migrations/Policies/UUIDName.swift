import Codecs

/// What a repeatable UUID is made of: the store's UUID as namespace, and a name that applications can make as well, such
/// as `Post/p17` or `Post/p17/Section`.
struct UUIDName {
  private let space: [UInt8]
  /// What stands before the key of the source object, between it and that of the related one, and after both.
  private let parts: (first: [UInt8], middle: [UInt8], last: [UInt8])

  /// `item` is the entity of the related objects, `made` that of a further object, `name` what the rule adds.
  init(store: String, source: String, item: String?, made: String?, name: String?) {
    // A store's UUID is a text, which may be anything.
    space = UUIDText.bytes(store) ?? UUIDText.named(Array(store.utf8), in: [UInt8](repeating: 0, count: 16))
    let ending = [made, name].compactMap { $0.map { "/\($0)" } }.joined()
    parts = (
      Array("\(source)/p".utf8), Array((item.map { "/\($0)/p" } ?? "").utf8), Array(ending.utf8)
    )
  }

  func value(_ keys: [Int64]) -> [UInt8] {
    var name = parts.first + Array(String(keys[0]).utf8)
    if keys.count > 1 { name += parts.middle + Array(String(keys[1]).utf8) }
    return UUIDText.named(name + parts.last, in: space)
  }
}
