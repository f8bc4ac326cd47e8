import Streams

/// Rows of join tables.
extension StepObjects {
  /// Adds a row to a join table for a policy, once a call.
  func linkOnce(_ join: Int, source: Int64, destination: Int64) throws {
    guard addedLinks.add(join, source: source, destination: destination) else { return }
    try link(join, source: source, destination: destination)
  }

  /// Adds a row to a join table.
  /// The order among the destination's or the source's objects is taken over where it is known.
  func link(
    _ join: Int, source: Int64, destination: Int64, sourceOrder: Int64? = nil, destinationOrder: Int64? = nil
  ) throws {
    let number = layout.entityTables.count + join
    encoder.reset()
    for column in linkColumns[join] {
      switch column {
      case .source: encoder.append(source)
      case .destination: encoder.append(destination)
      case .sourceOrder: encoder.append(sourceOrder ?? nextKeys[number] &* 1024)
      case .destinationOrder: encoder.append(destinationOrder ?? nextKeys[number] &* 1024)
      }
    }
    output.append(table: number, rowid: nextKeys[number], encoder)
    nextKeys[number] += 1
  }

  /// The number of a join table in the output, and a recipe for the rows that links of the row at hand give: the
  /// mapping's own object, whose key is the row's with `offset` added, and the one whose key is given. Nil for a
  /// relationship with an order.
  func linkRecipe(_ join: Int, ownerIsSource: Bool, offset: Int64) -> (table: Int, record: RecordRecipe)? {
    var pieces: [RecordRecipe.Piece] = []
    for column in linkColumns[join] {
      switch column {
      case .source: pieces.append(ownerIsSource ? .own(by: offset) : .given)
      case .destination: pieces.append(ownerIsSource ? .given : .own(by: offset))
      case .sourceOrder, .destinationOrder: return nil
      }
    }
    return (layout.entityTables.count + join, RecordRecipe(pieces))
  }

  /// Takes notice of a link that a call of its own has added to the output.
  @inline(__always)
  func noteLink(_ join: Int, source: Int64, destination: Int64) {
    addedLinks.addCall(join, source: source, destination: destination)
  }

  /// Join tables that may hold a link twice: what policies added may have been there, from the source or by another
  /// call.
  var joinsToCheck: [Int] {
    layout.joinTables.indices.filter { join in
      let number = layout.entityTables.count + join
      let rows = UInt64(clamping: nextKeys[number] - keys.firstNewKeys[number])
      return addedLinks.mayRepeat(join, rows: rows)
    }
  }
}
