/// Makes Huffman codes for writing: the lengths of words from the frequencies of symbols.
enum HuffmanLengths {
  /// Lengths of at most `limit` bits, 0 for symbols that do not occur; at least two symbols get a word, since a code of
  /// one word is not complete. Equal frequencies give equal lengths on every run.
  static func make(_ frequencies: [Int], limit: Int) -> [UInt8] {
    var frequencies = frequencies
    for symbol in frequencies.indices where frequencies.count(where: { $0 > 0 }) < 2 && frequencies[symbol] == 0 {
      frequencies[symbol] = 1
    }
    while true {
      let lengths = depths(frequencies)
      if lengths.allSatisfy({ $0 <= limit }) { return lengths.map { UInt8($0) } }
      // Flatter frequencies make a flatter tree.
      frequencies = frequencies.map { $0 == 0 ? 0 : $0 / 2 + 1 }
    }
  }

  /// The depth of each symbol in the tree that joins the two rarest nodes until one is left.
  private static func depths(_ frequencies: [Int]) -> [Int] {
    let symbols = frequencies.indices.filter { frequencies[$0] > 0 }
      .sorted { (frequencies[$0], $0) < (frequencies[$1], $1) }
    // Leaves first, then joined nodes; both ascend in weight, so the two rarest are always at the front of one of them.
    var weights = symbols.map { frequencies[$0] }
    var parents = [Int](repeating: 0, count: 2 * symbols.count - 1)
    var (leaf, joined) = (0, symbols.count)
    func rarest() -> Int {
      if leaf < symbols.count, joined >= weights.count || weights[leaf] <= weights[joined] {
        leaf += 1
        return leaf - 1
      }
      joined += 1
      return joined - 1
    }
    for _ in 1..<symbols.count {
      let (first, second) = (rarest(), rarest())
      parents[first] = weights.count
      parents[second] = weights.count
      weights.append(weights[first] + weights[second])
    }
    var depths = [Int](repeating: 0, count: weights.count)
    for node in (0..<(weights.count - 1)).reversed() { depths[node] = depths[parents[node]] + 1 }
    var lengths = [Int](repeating: 0, count: frequencies.count)
    for (position, symbol) in symbols.enumerated() { lengths[symbol] = depths[position] }
    return lengths
  }
}
