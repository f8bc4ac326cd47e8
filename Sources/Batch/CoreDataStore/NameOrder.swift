/// The orders and foldings of names that Core Data and SQLite use. None depends on a locale, so layouts are the same
/// everywhere.
package enum NameOrder {
  /// Code-unit order: `URL` before `account`.
  package static func codeUnits(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }

  /// Case-insensitive order, as entity numbers follow it; names that differ in case alone keep code-unit order.
  static func ignoringCase(_ left: String, _ right: String) -> Bool {
    let (first, second) = (left.lowercased(), right.lowercased())
    return first == second ? codeUnits(left, right) : codeUnits(first, second)
  }

  /// A name as SQLite compares it: ASCII letters folded, all else kept.
  package static func folded(_ name: String) -> String {
    guard name.utf8.contains(where: { (0x41...0x5A).contains($0) }) else { return name }
    return String(unsafeUninitializedCapacity: name.utf8.count) { bytes in
      var count = 0
      for byte in name.utf8 {
        bytes[count] = (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
        count += 1
      }
      return count
    }
  }
}
