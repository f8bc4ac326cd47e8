import Streams

/// Text of the sections of a page, piece by piece as it comes. It is kept in a file without a name, so that a page of any
/// length takes little memory.
final class SectionSpool {
  private static let pieceBytes = 16 << 10

  private let file: any File
  private var end: UInt64 = 0
  /// What is not in the file yet, and what of each section is there.
  private var waiting: [String: [UInt8]] = [:]
  private var pieces: [String: [Range<UInt64>]] = [:]

  /// `path` is that of the page: its disk has to hold it in any case.
  init(beside path: String) throws {
    file = try LocalFileSystem().openScratch(path + ".new")
  }

  deinit { file.close() }

  func add(_ text: String, to section: String) throws {
    waiting[section, default: []].append(contentsOf: text.utf8)
    guard let bytes = waiting[section], bytes.count >= Self.pieceBytes else { return }
    try bytes.withUnsafeBytes { try file.write($0, at: end) }
    pieces[section, default: []].append(end..<end + UInt64(bytes.count))
    end += UInt64(bytes.count)
    waiting[section] = []
  }

  /// All of a section, in its order.
  func write(_ section: String, to sink: ([UInt8]) throws -> Void) throws {
    for piece in pieces[section] ?? [] {
      var bytes = [UInt8](repeating: 0, count: piece.count)
      let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: piece.lowerBound) }
      guard count == piece.count else { throw StreamsError(.inputOutput, "the working file of a page is too short") }
      try sink(bytes)
    }
    try sink(waiting[section] ?? [])
  }
}
