/// The selector that Swift gives a method which is exposed without a name.
enum SelectorName {
  /// Before such labels stands no "With".
  private static let prepositions: Set<String> = [
    "about", "above", "across", "after", "along", "alongside", "among", "around", "as", "at", "before", "behind",
    "below",
    "beneath", "beside", "besides", "between", "beyond", "by", "despite", "during", "following", "for", "from", "given",
    "in", "including", "inside", "into", "matching", "near", "next", "of", "off", "on", "onto", "opposite", "out",
    "outside", "over", "passing", "past", "preserving", "starting", "since", "through", "throughout", "to", "toward",
    "under", "until", "up", "upon", "using", "via", "with", "within", "without",
  ]

  static func of(_ name: String, labels: [String?]) -> String {
    guard let first = labels.first else { return name }
    let rest = labels.dropFirst().map { ($0 ?? "") + ":" }.joined()
    guard let first else { return name + ":" + rest }
    let word = first.prefix { $0.isLowercase }.lowercased()
    let with = prepositions.contains(word) ? "" : "With"
    return name + with + first.prefix(1).uppercased() + first.dropFirst() + ":" + rest
  }
}
