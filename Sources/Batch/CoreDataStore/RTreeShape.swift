/// What the text of an R-tree says of its nodes.
package struct RTreeShape: Equatable {
  /// Bounds of a row: two for each dimension.
  package let bounds: Int
  /// Whether they are whole numbers.
  package let isInteger: Bool

  /// Nil for a virtual table of another kind.
  package init?(_ sql: String) {
    let tokens = Array(SQLTokens(sql))
    guard let using = tokens.firstIndex(where: { $0.isWord("using") }), using + 2 < tokens.count,
      let module = tokens[using + 1].name.map(NameOrder.folded), ["rtree", "rtree_i32"].contains(module),
      tokens[using + 2] == .mark(UInt8(ascii: "("))
    else { return nil }
    var (depth, isFirst, columns) = (0, true, 0)
    for token in tokens[(using + 2)...] {
      if isFirst, depth == 1 {
        // Columns that begin with a plus are no bounds.
        if token != .mark(UInt8(ascii: "+")) { columns += 1 }
        isFirst = false
      }
      if token == .mark(UInt8(ascii: "(")) { depth += 1 }
      if token == .mark(UInt8(ascii: ")")) { depth -= 1 }
      if token == .mark(UInt8(ascii: ",")), depth == 1 { isFirst = true }
    }
    (bounds, isInteger) = (columns - 1, module == "rtree_i32")
  }

  /// Whether SQLite takes so many: of one to five dimensions.
  package var isPossible: Bool { bounds >= 2 && bounds % 2 == 0 && bounds <= 10 }
}
