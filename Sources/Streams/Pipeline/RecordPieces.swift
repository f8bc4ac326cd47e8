extension RecordRecipe {
  /// A part of the record that is made.
  public enum Piece: Equatable, Sendable {
    /// That many columns of the source, as they are.
    case columns(from: Int, count: Int)
    /// A column with the same value in every record.
    case constant(Value)
    /// A column of the source that is NULL or an integer within the range, as it is.
    case integer(column: Int, within: ClosedRange<Int64>)
    /// A column of the source that is not NULL, as it is.
    case present(column: Int)
    /// A column of the source that is NULL or an integer, with a number added.
    case shifted(column: Int, by: Int64)
    /// The row's own key, with a number added.
    case own(by: Int64)
    /// The number that is given beside the row.
    case given
    /// NULL where the key is; otherwise the key, with the number added that another column's integer leads to.
    case moved(key: Int, by: Int, offsets: [Int64?])
    /// NULL where the key is; otherwise the number that another column's integer leads to.
    case number(key: Int, of: Int, numbers: [Int64?])
  }

  /// The source's columns that some columns of the record are NULL with; nil if one of them is NULL in every record.
  static func sources(of columns: Set<Int>, _ pieces: [Piece]) -> [Int]? {
    var (found, first): (Set<Int>, Int) = ([], 0)
    for piece in pieces {
      var count = 1
      switch piece {
      case .columns(let from, let length):
        count = length
        found.formUnion((0..<length).filter { columns.contains(first + $0) }.map { from + $0 })
      case .constant(let value): if columns.contains(first), value == .null { return nil }
      case .integer(let column, _), .shifted(let column, _), .moved(let column, _, _), .number(let column, _, _):
        if columns.contains(first) { found.insert(column) }
      case .own, .given, .present: break
      }
      first += count
    }
    return found.sorted()
  }

  /// Neighbouring runs of columns in one piece.
  static func joined(_ pieces: [Piece]) -> [Piece] {
    pieces.reduce(into: []) { joined, piece in
      if case .columns(let start, let more) = piece, case .columns(let from, let count)? = joined.last,
        from + count == start
      {
        joined[joined.count - 1] = .columns(from: from, count: count + more)
      } else {
        joined.append(piece)
      }
    }
  }

  /// The type and the body of a constant.
  static func encoded(_ value: Value) -> ([UInt8], [UInt8]) {
    let encoder = RecordEncoder()
    encoder.append(value)
    var bytes = [UInt8](repeating: 0, count: encoder.length)
    bytes.withUnsafeMutableBytes { if let base = $0.baseAddress { encoder.write(to: base) } }
    let headerLength = Int(bytes[0])
    return (Array(bytes[1..<headerLength]), Array(bytes[headerLength...]))
  }
}
