/// Names of files for the parts of an export. Names come from a store, and may be anything.
package struct ExportFileNames {
  private static let longest = 100
  private var used: Set<String> = []
  private let suffix: String

  /// `suffix` is what the names end with, as `.csv`.
  package init(suffix: String) { self.suffix = suffix }

  /// A name of letters, digits, `_` and `-`, which no part before has, not even in other case.
  package mutating func next(_ name: String) -> String {
    let plain = name.unicodeScalars.map { scalar -> Character in
      let isPlain = scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "_" || scalar == "-"
      return isPlain ? Character(scalar) : "_"
    }
    var stem = plain.isEmpty ? "table" : String(plain)
    while stem.utf8.count > Self.longest { stem.removeLast() }
    var (found, count) = (stem, 1)
    while !used.insert(found.lowercased()).inserted {
      count += 1
      found = "\(stem)-\(count)"
    }
    return found + suffix
  }
}
