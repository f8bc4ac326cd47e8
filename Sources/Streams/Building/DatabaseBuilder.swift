/// Builds a whole database file: reserves the roots of all tables and indexes, hands out builders, and at the end
/// writes the schema and page 1.
///
/// Roots come first in the file, as auto_vacuum wants them; page 1 is written last, so that an unfinished file is no
/// database.
public final class DatabaseBuilder {
  /// An entry of the schema, in the order of creation.
  public struct SchemaEntry: Sendable, Equatable {
    /// `table`, `index`, `trigger` or `view`.
    public var type: String
    /// The object's name.
    public var name: String
    /// The table it belongs to.
    public var tableName: String
    /// The text that creates it; nil for automatic indexes.
    public var sql: String?
    /// Whether it has a b-tree. A trigger, a view and a virtual table are text alone.
    public var hasRoot: Bool
    /// Makes an entry.
    public init(type: String, name: String, tableName: String, sql: String?, hasRoot: Bool = true) {
      self.type = type
      self.name = name
      self.tableName = tableName
      self.sql = sql
      self.hasRoot = hasRoot
    }
  }

  /// Writes the pages.
  public let writer: PageWriter
  private var header: DatabaseHeader
  private let entries: [SchemaEntry]
  private let roots: [UInt32]

  /// Begins a file, or continues one whose next page a checkpoint names.
  ///
  /// - Throws: ``StreamsError``: `unsupported` when the header's sizes are not allowed.
  public init(file: any File, header: DatabaseHeader, schema: [SchemaEntry], resumingAt nextPage: UInt32? = nil) throws
  {
    guard let geometry = header.geometry, header.encoding == .utf8 else {
      throw StreamsError(.unsupported, "a database of this page size or encoding cannot be built", path: file.path)
    }
    self.header = header
    entries = schema
    let fresh = PageWriter(file: file, geometry: geometry)
    roots = try schema.map { $0.hasRoot ? try fresh.allocate() : 0 }
    writer = nextPage.map { PageWriter(file: file, geometry: geometry, nextPage: $0) } ?? fresh
    if geometry.hasPointerMap { self.header.largestRoot = roots.max() ?? 1 }
  }

  /// The root page reserved for a table or an index.
  public func root(of name: String) -> UInt32? {
    entries.firstIndex { $0.hasRoot && $0.name == name }.map { roots[$0] }
  }

  /// Writes the schema and page 1, gives the file its length, and makes it durable. All builders must have finished.
  /// Returns what the schema's table must be found to hold.
  ///
  /// - Throws: ``StreamsError``.
  @discardableResult
  public func finish(isDurable: Bool = true) throws -> ProofDigest {
    let schema = TableBuilder(root: 1, writer: writer, keepsDigest: true)
    let encoder = RecordEncoder()
    var bytes: [UInt8] = []
    for (index, entry) in entries.enumerated() {
      encoder.reset()
      for text in [entry.type, entry.name, entry.tableName] { encoder.append(.text(text)) }
      encoder.append(Int64(roots[index]))
      encoder.append(entry.sql.map { .text($0) } ?? .null)
      bytes = [UInt8](repeating: 0, count: encoder.length)
      try bytes.withUnsafeMutableBytes { target in
        encoder.write(to: target.baseAddress!)
        try schema.append(rowid: Int64(index + 1), record: UnsafeRawBufferPointer(target))
      }
    }
    try schema.finish()
    try writer.flush()
    header.pageCount = writer.nextPage - 1
    var first = [UInt8](repeating: 0, count: DatabaseHeader.length)
    try first.withUnsafeMutableBytes {
      header.write(to: $0.baseAddress!)
      try writer.file.write(UnsafeRawBufferPointer($0), at: 0)
    }
    try writer.file.truncate(to: writer.length)
    if isDurable { try writer.file.sync() }
    return schema.digest ?? ProofDigest()
  }
}
