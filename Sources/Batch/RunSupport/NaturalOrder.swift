/// The order in which people number versions: runs of digits compare by value, so "Model 2" comes before "Model 10".
package enum NaturalOrder {
  /// Whether `left` comes before `right`. Upper and lower case differ only if nothing else does.
  package static func precedes(_ left: String, _ right: String) -> Bool {
    let pieces = (pieces(of: left), pieces(of: right))
    for (a, b) in zip(pieces.0, pieces.1) where a != b { return precedes(a, b) }
    if pieces.0.count != pieces.1.count { return pieces.0.count < pieces.1.count }
    return left.utf8.lexicographicallyPrecedes(right.utf8)
  }

  /// Names of versions in the order in which Xcode makes them: the first one has the name of its bundle, without a
  /// number, and the others have numbers.
  package static func versions<Version>(
    _ versions: [Version], of bundle: String, name: (Version) -> String
  ) -> [Version] {
    // The name of a bundle that ends with a number may be that of any version.
    let first = bundle.last?.isNumber == false ? bundle : nil
    return versions.sorted {
      let (left, right) = (name($0), name($1))
      return (left == first) != (right == first) ? left == first : precedes(left, right)
    }
  }

  private enum Piece: Equatable {
    /// Digits without leading zeros: the longer one is the greater one, whatever its length.
    case number([UInt8])
    case text([UInt8])
  }

  private static func precedes(_ left: Piece, _ right: Piece) -> Bool {
    switch (left, right) {
    case (.number(let a), .number(let b)):
      return a.count != b.count ? a.count < b.count : a.lexicographicallyPrecedes(b)
    case (.text(let a), .text(let b)): return a.lexicographicallyPrecedes(b)
    case (.number, .text): return true
    case (.text, .number): return false
    }
  }

  private static func pieces(of name: String) -> [Piece] {
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    var found: [Piece] = []
    var rest = Array(name.lowercased().utf8)[...]
    while let first = rest.first {
      let isNumber = digits.contains(first)
      let run = rest.prefix { digits.contains($0) == isNumber }
      rest = rest.dropFirst(run.count)
      found.append(isNumber ? .number(Array(run.drop { $0 == digits.lowerBound })) : .text(Array(run)))
    }
    return found
  }
}
