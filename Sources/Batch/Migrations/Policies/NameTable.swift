/// Finds what belongs to a property's name. Entities have few properties: looking through them beats hashing the name.
///
/// Policies ask for names with every row, so elements are read where they lie: nothing is copied or counted.
package final class NameTable<Element: Sendable>: @unchecked Sendable {
  // Sendable: nothing changes after init.
  private struct Entry {
    var name: String
    var length: Int
  }

  private static var mostLinear: Int { 24 }
  private let count: Int
  private let entries: UnsafeMutablePointer<Entry>
  private let elements: UnsafeMutablePointer<Element>
  /// Positions by name: for tables of many names, and for names in another Unicode form.
  private let positions: [String: Int]

  package init(_ named: [String: Element]) {
    let sorted = named.sorted { $0.key < $1.key }
    count = sorted.count
    entries = .allocate(capacity: count)
    elements = .allocate(capacity: count)
    for (index, (name, element)) in sorted.enumerated() {
      (entries + index).initialize(to: Entry(name: name, length: name.utf8.count))
      (elements + index).initialize(to: element)
    }
    positions = Dictionary(uniqueKeysWithValues: sorted.enumerated().map { ($1.key, $0) })
  }

  /// All names, sorted.
  package var names: [String] { (0..<count).map { entries[$0].name } }

  deinit {
    entries.deinitialize(count: count)
    entries.deallocate()
    elements.deinitialize(count: count)
    elements.deallocate()
  }

  /// Where the element of a name lies, for as long as the table lives; nil when there is none.
  package func find(_ name: String) -> UnsafePointer<Element>? {
    let length = name.utf8.count
    for index in 0..<min(count, Self.mostLinear) where entries[index].length == length && entries[index].name == name {
      return UnsafePointer(elements + index)
    }
    return positions[name].map { UnsafePointer(elements + $0) }
  }

  package subscript(_ name: String) -> Element? { find(name)?.pointee }
}
