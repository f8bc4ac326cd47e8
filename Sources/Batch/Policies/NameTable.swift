/// Finds what belongs to a property's name. Entities have few properties: looking through them beats hashing the name.
struct NameTable<Element: Sendable>: Sendable {
  private struct Entry: Sendable {
    var name: String
    var length: Int
    var element: Element
  }

  private static var mostLinear: Int { 24 }
  private let entries: [Entry]
  private let byName: [String: Element]

  init(_ elements: [String: Element]) {
    byName = elements
    entries =
      elements.count > Self.mostLinear
      ? [] : elements.sorted { $0.key < $1.key }.map { Entry(name: $0.key, length: $0.key.utf8.count, element: $0.value) }
  }

  subscript(_ name: String) -> Element? {
    guard !entries.isEmpty else { return byName[name] }
    let length = name.utf8.count
    for index in entries.indices where entries[index].length == length && entries[index].name == name {
      return entries[index].element
    }
    return nil
  }
}
