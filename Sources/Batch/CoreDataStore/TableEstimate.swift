import RunSupport
import Streams

/// Rows and bytes of an entity table by a sample of its pages.
public struct TableEstimate: Sendable, Equatable {
  /// What is known of one entity.
  public struct Share: Sendable, Equatable {
    /// Its objects.
    public var rows: UInt64
    /// Their share of the table's pages.
    public var bytes: UInt64
  }

  /// By Z_ENT.
  public private(set) var entities: [Int64: Share] = [:]
  /// Whether the whole table was read.
  public private(set) var isExact: Bool

  /// Pages of a level that are read of each of so many tables: a store with many of them takes not much longer.
  package static func pages(tables: Int) -> Int { max(4, min(48, 240 / max(1, tables))) }

  /// Looks at a table.
  ///
  /// - Throws: `StreamsError` of the pages, and ``BatchError``: `badStore` for more entity numbers than a model can
  ///   have.
  public init(_ reader: StoreReader, _ table: TableSchema, pages: Int) throws {
    let (entity, decoder) = (table.position(of: "Z_ENT") ?? 1, RecordDecoder())
    var found: [Int64: (rows: Double, bytes: Double)] = [:]
    // Rows of one entity mostly come one after the other.
    var last: (number: Int64, rows: Double, bytes: Double) = (0, 0, 0)
    func add() throws {
      guard last.rows > 0 else { return }
      let before = found[last.number] ?? (0, 0)
      found[last.number] = (before.rows + last.rows, before.bytes + last.bytes)
      guard found.count <= 1 << 16 else {
        throw BatchError(
          .badStore, "the rows of \(table.name) have more entity numbers than a model has entities", path: reader.path)
      }
    }
    let tree = try TreeEstimate(root: table.rootPage, in: reader.snapshot, pages: pages) { bytes, record in
      let number = decoder.decodeBeginning(record) ? decoder.integer(entity) ?? 0 : 0
      if number != last.number {
        try add()
        last = (number, 0, 0)
      }
      last = (number, last.rows + 1, last.bytes + bytes)
    }
    try add()
    isExact = tree.isExact
    let rows = found.values.reduce(0) { $0 + $1.rows }
    let bytes = found.values.reduce(0) { $0 + $1.bytes }
    entities = found.mapValues {
      Share(
        rows: UInt64(clamping: Int64((tree.rows * $0.rows / max(1, rows)).rounded())),
        bytes: UInt64(clamping: Int64((tree.bytes * $0.bytes / max(1, bytes)).rounded())))
    }
  }
}
