import CoreDataStore
import RunSupport
import Streams

/// What the rows of a table are.
enum ExportRowKind { case objects, links, rows }

/// Writes the rows of one table.
protocol ExportRowWriter: AnyObject {
  var kind: ExportRowKind { get }
  /// Objects written by entity; other rows by table.
  var counts: [String: UInt64] { get }
  /// Writes rows until `limit` are written; returns how many were.
  func write(_ page: RowPage, limit: UInt64) throws -> UInt64
}

/// One export under way: other threads read pages of rows ahead, the caller's writes them.
struct ExportRun {
  private final class Scan: @unchecked Sendable {
    // Sendable by discipline: one thread of the pipeline at a time reads.
    let scan: RowScan
    init(_ scan: RowScan) { self.scan = scan }
  }

  private struct Page: Sendable {
    var rows: RowPage
    var bytesRead: UInt64
  }

  /// Ends the pipeline where the limit is reached.
  private struct Enough: Error {}

  let options: ExportOptions
  let externalSize: (String) -> UInt64?
  /// Pages of all tables.
  var pages: UInt64 = 0
  var repairedTexts: UInt64 = 0
  var notes: [String] = []
  private var rows: [ExportRowKind: [String: UInt64]] = [:]
  private var written: UInt64 = 0
  private var bytesRead: UInt64 = 0
  let blobs: BlobReader
  private let free = BoundedQueue<RowPage>(capacity: 16)

  init(options: ExportOptions, externalSize: @escaping (String) -> UInt64?) {
    self.options = options
    self.externalSize = externalSize
    blobs = BlobReader(decodings: options.decodings)
  }

  var summary: ExportSummary {
    .init(
      rows: rows[.objects] ?? [:], links: rows[.links] ?? [:], otherRows: rows[.rows] ?? [:],
      repairedTexts: repairedTexts, unreadBytes: blobs.unread.count, notes: notes)
  }

  func values(_ text: ExportText) -> ExportValueWriter {
    ExportValueWriter(text: text, externalSize: externalSize, blobs: blobs)
  }

  /// Pages of tables.
  static func pages(_ snapshot: DatabaseSnapshot, _ roots: [UInt32]) throws -> UInt64 {
    try roots.reduce(0) { try $0 + TablePages.count(snapshot, root: $1) }
  }

  mutating func write(
    _ writer: any ExportRowWriter, root: UInt32, isWithoutRowid: Bool = false, of snapshot: DatabaseSnapshot,
    progress: (UInt64, Double) -> Void
  ) throws {
    let limit = options.limit ?? .max
    guard written < limit else { return }
    let total = Double(max(1, pages) * UInt64(snapshot.geometry.pageSize))
    let scan = Scan(
      try RowScan(
        snapshot: snapshot, root: root, isWithoutRowid: isWithoutRowid, rowLimit: options.memory.rowLimit))
    let (free, memory) = (free, options.memory)
    var (done, before) = (written, bytesRead)
    do {
      try Pipeline<Page, Void>.run(
        read: {
          let page = free.tryPop() ?? RowPage()
          let isFound = try memory.advising { try scan.scan.next(into: page) }
          return isFound ? Page(rows: page, bytesRead: scan.scan.bytesRead) : nil
        },
        transform: { [bytesRead] page in
          done += try writer.write(page.rows, limit: limit - done)
          before = bytesRead + page.bytesRead
          progress(done, min(1, Double(before) / total))
          guard done < limit else { throw Enough() }
          try free.push(page.rows)
        }, write: { _ in })
    } catch is Enough {}
    (written, bytesRead) = (done, before)
    rows[writer.kind, default: [:]].merge(writer.counts, uniquingKeysWith: +)
  }
}
