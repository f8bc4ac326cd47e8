import Testing

@testable import Streams

/// A recipe gives the bytes that encoding column by column gives, or leaves the record alone.
@Suite struct RecordRecipeTests {
  private static let rowid: Int64 = 77_000
  private static let given: Int64 = -5
  private func record(_ values: [Value]) -> [UInt8] {
    let encoder = RecordEncoder()
    for value in values { encoder.append(value) }
    var bytes = [UInt8](repeating: 0, count: encoder.length)
    bytes.withUnsafeMutableBytes { encoder.write(to: $0.baseAddress!) }
    return bytes
  }

  private func run(_ pieces: [RecordRecipe.Piece], _ source: [UInt8], columns: Int) -> [UInt8]? {
    let (locator, page) = (RecordLocator(columnCount: columns), RecordPage())
    locator.set(rowid: Self.rowid)
    locator.give(Self.given)
    return source.withUnsafeBytes { bytes in
      guard locator.locate(bytes), RecordRecipe(pieces).append(locator, to: page, table: 3, rowid: 9) else {
        #expect(page.count == 0)
        return nil
      }
      var made: [UInt8] = []
      page.forEach { table, rowid, record in
        #expect((table, rowid) == (3, 9))
        made = Array(record)
      }
      return made
    }
  }

  private func value(_ random: inout some RandomNumberGenerator) -> Value {
    switch Int.random(in: 0..<7, using: &random) {
    case 0: .null
    case 1: .integer(.random(in: -2...2, using: &random))
    case 2: .integer(.random(in: .min ... .max, using: &random) >> Int64.random(in: 0..<64, using: &random))
    case 3: .real(.random(in: -1e9...1e9, using: &random))
    case 4: .text(String(repeating: "ab", count: Int.random(in: 0..<40, using: &random)))
    case 5: .text(String(repeating: "x", count: Int.random(in: 0..<9000, using: &random)))
    default: .blob([UInt8](repeating: 7, count: Int.random(in: 0..<300, using: &random)))
    }
  }

  private func encode(
    _ pieces: [RecordRecipe.Piece], _ source: [UInt8], columns: Int, except changed: UInt64, _ value: Value
  )
    -> [UInt8]?
  {
    let (locator, encoder) = (RecordLocator(columnCount: columns), RecordEncoder())
    locator.set(rowid: Self.rowid)
    locator.give(Self.given)
    return source.withUnsafeBytes { bytes in
      var asked: [Int] = []
      guard locator.locate(bytes),
        RecordRecipe(pieces).encode(
          locator, to: encoder, except: changed,
          { column in
            asked.append(column)
            encoder.append(value)
          })
      else { return nil }
      #expect(asked.allSatisfy { $0 < 64 && changed >> UInt64($0) & 1 == 1 } && asked == asked.sorted())
      var made = [UInt8](repeating: 0, count: encoder.length)
      made.withUnsafeMutableBytes { encoder.write(to: $0.baseAddress!) }
      return made
    }
  }

  /// The record column by column, with one value in all that changed; nil where another column cannot be made.
  private func exchanged(_ pieces: [RecordRecipe.Piece], _ source: [Value], _ changed: UInt64, _ value: Value)
    -> [UInt8]?
  {
    var made: [Value] = []
    for piece in pieces {
      let count = if case .columns(_, let count) = piece { count } else { 1 }
      let isChanged = (0..<count).map { made.count + $0 < 64 && changed >> UInt64(made.count + $0) & 1 == 1 }
      if isChanged.allSatisfy({ $0 }) {
        made += Array(repeating: value, count: count)
        continue
      }
      guard let values = expected(piece, source) else { return nil }
      made += zip(values, isChanged).map { $1 ? value : $0 }
    }
    return record(made)
  }

  /// The value that a piece gives, told column by column; nil where it leaves the record alone.
  private func expected(_ piece: RecordRecipe.Piece, _ source: [Value]) -> [Value]? {
    switch piece {
    case .columns(let from, let count): return Array(source[from..<(from + count)])
    case .constant(let value): return [value]
    case .integer(let column, let range):
      if case .integer(let value) = source[column] { return range.contains(value) ? [source[column]] : nil }
      return source[column] == .null ? [.null] : nil
    case .present(let column): return source[column] == .null ? nil : [source[column]]
    case .shifted(let column, let offset):
      if case .integer(let value) = source[column] { return [.integer(value &+ offset)] }
      return source[column] == .null ? [.null] : nil
    case .own(let offset): return [.integer(Self.rowid &+ offset)]
    case .given: return [.integer(Self.given)]
    case .moved(let key, let place, let table): return entry(key, place, table, source) { .integer($0 &+ $1) }
    case .number(let key, let place, let table): return entry(key, place, table, source) { .integer($1) }
    }
  }

  private func entry(
    _ key: Int, _ place: Int, _ table: [Int64?], _ source: [Value], _ make: (Int64, Int64) -> Value
  ) -> [Value]? {
    guard case .integer(let value) = source[key] else { return source[key] == .null ? [.null] : nil }
    guard case .integer(let index) = source[place], index >= 0, index < table.count, let found = table[Int(index)]
    else {
      return nil
    }
    return [make(value, found)]
  }

  @Test("Random recipes over random records give the bytes of encoding column by column", arguments: 1...40)
  func random(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      let source = (0..<Int.random(in: 1...90, using: &random)).map { _ in value(&random) }
      let pieces = (0..<Int.random(in: 1...20, using: &random)).map { _ -> RecordRecipe.Piece in
        let column = Int.random(in: 0..<source.count, using: &random)
        switch Int.random(in: 0..<11, using: &random) {
        case 10: return .present(column: column)
        case 9: return .given
        case 8: return .own(by: .random(in: -500...500, using: &random))
        case 0: return .constant(value(&random))
        case 1: return .integer(column: column, within: -1000...1 << 40)
        case 2: return .shifted(column: column, by: .random(in: -500...500, using: &random))
        case 3: return .moved(key: column, by: Int.random(in: 0..<source.count, using: &random), offsets: [0, nil, 77])
        case 4:
          return .number(key: column, of: Int.random(in: 0..<source.count, using: &random), numbers: [nil, 5, 300])
        default: return .columns(from: column, count: Int.random(in: 1...(source.count - column), using: &random))
        }
      }
      let parts = pieces.map { expected($0, source) }
      let wanted = parts.contains { $0 == nil } ? nil : record(parts.flatMap { $0 ?? [] })
      #expect(run(pieces, record(source), columns: source.count) == wanted, "seed \(seed)")
      let changed = UInt64.random(in: 0 ... .max, using: &random) & .random(in: 0 ... .max, using: &random)
      let given = value(&random)
      #expect(
        encode(pieces, record(source), columns: source.count, except: changed, given)
          == exchanged(pieces, source, changed, given), "seed \(seed), changed \(changed)")
    }
  }

  @Test("Records with fewer columns, damaged ones, and types in a longer form than needed are left alone")
  func irregular() {
    let whole = record([.integer(5), .text("abc"), .null])
    let all = [RecordRecipe.Piece.columns(from: 0, count: 3)]
    #expect(run(all, whole, columns: 3) == whole)
    #expect(run([.columns(from: 0, count: 3), .constant(.null)], whole, columns: 4) == nil)
    #expect(run(all, Array(whole.dropLast()), columns: 3) == nil)
    #expect(run(all, [], columns: 3) == nil)
    // Type 1 in two bytes; the reserved type 10; a header that ends in a type.
    for header: [UInt8] in [[5, 0x80, 1, 0, 0], [4, 10, 0, 0], [4, 1, 0, 0x81]] {
      #expect(run(all, header + [5], columns: 3) == nil)
    }
    // 5 in eight bytes is not what SQLite would write: the slower way makes it short.
    #expect(run([.integer(column: 0, within: 0...9)], [2, 6, 0, 0, 0, 0, 0, 0, 0, 5], columns: 1) == nil)
  }
}
