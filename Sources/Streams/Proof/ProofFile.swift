/// A finished database file, as the proof reads it: its header, and how it is laid out.
///
/// Source of the rules: SQLite, "Database File Format", section 1.
public final class ProofFile: Sendable {
  let file: any File
  let pageSize: Int
  /// Bytes of a page that hold anything.
  let usable: Int
  /// Pages of the file.
  public let pageCount: UInt32
  let hasPointerMap: Bool
  /// The largest root page of a file with pointer maps, as its header says.
  let largestRoot: UInt32
  /// Whether indexes of this file may be in descending order. Before format 4 the word was read and had no effect.
  package let hasDescending: Bool
  let freelist: (first: UInt32, count: UInt32)
  /// Whether the file was written by this program alone, one page after the other. Then every byte of it has a meaning.
  let isDense: Bool
  /// All pages of a small file: each of them is asked for several times.
  fileprivate let whole: ProofBuffer?
  // Set before anybody else knows the file.
  private(set) nonisolated(unsafe) var beforeReading: @Sendable () throws -> Void = {}

  private static let mostWhole = 1 << 20
  private static let magic = Array("SQLite format 3\0".utf8)

  /// Opens a file that nobody changes. `beforeReading` is called before every piece that is read of a file over 1 MiB, on
  /// any thread, and ends the proof by what it throws. A smaller file is read at once.
  ///
  /// - Throws: ``StreamsError``: `notADatabase`, `damagedDatabase`, `unsupported`.
  public init(
    path: String, fileSystem: any FileSystem, isDense: Bool, beforeReading: @escaping @Sendable () throws -> Void = {}
  ) throws {
    (self.beforeReading, self.isDense) = (beforeReading, isDense)
    file = try fileSystem.open(path, .read)
    let header = try Self.header(of: file)
    func word(_ offset: Int) -> UInt32 { header[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }
    let size = Int(header[16]) << 8 | Int(header[17])
    pageSize = size == 1 ? 65536 : size
    usable = pageSize - Int(header[20])
    let pages = try pageSize == 0 ? 0 : Double(file.size()) / Double(pageSize)
    pageCount = pages < Double(UInt32.max - 1) ? UInt32(pages) : 0
    whole = try Self.whole(file, Int(pageCount) * pageSize)
    (hasPointerMap, largestRoot, freelist) = (word(52) != 0, word(52), (word(32), word(36)))
    hasDescending = word(44) >= 4
    func damage(_ what: String) -> StreamsError { StreamsError(.damagedDatabase, what, path: path, page: 1) }
    guard pageSize >= 512, pageSize & (pageSize - 1) == 0, usable >= 480, pageCount > 0, Double(pageCount) == pages,
      (1...2).contains(header[18]), header[18] == header[19], Array(header[21...23]) == [64, 32, 32],
      (1...4).contains(word(44)), header[72..<92].allSatisfy({ $0 == 0 })
    else { throw damage("the file's header or length is impossible") }
    guard hasPointerMap || word(64) == 0 else { throw damage("the header asks for pointer maps and has none") }
    guard word(56) == 1 else { throw StreamsError(.unsupported, "the database holds no UTF-8", path: path) }
    // The count in the header counts where the change counter says so; older writers do not update it.
    guard word(28) == pageCount || word(24) != word(92) && !isDense else {
      throw damage("the header says \(word(28)) pages, and the file has \(pageCount)")
    }
    guard !isDense || freelist.count == 0 && freelist.first == 0 && header[20] == 0 else {
      throw damage("a new file has free pages")
    }
  }

  /// Opens a file that is being written by this program alone. Its length is not known yet, nor has it a header.
  ///
  /// - Throws: ``StreamsError``.
  public init(beingWritten path: String, fileSystem: any FileSystem, pageSize: Int, hasPointerMap: Bool) throws {
    file = try fileSystem.open(path, .read)
    (self.pageSize, self.hasPointerMap, usable, isDense) = (pageSize, hasPointerMap, pageSize, true)
    (pageCount, freelist, largestRoot, hasDescending) = (UInt32.max - 1, (0, 0), 0, true)
    whole = nil
  }

  private static func header(of file: any File) throws -> [UInt8] {
    var header = [UInt8](repeating: 0, count: 100)
    guard try header.withUnsafeMutableBytes({ try file.read(into: $0, at: 0) }) == 100, header.starts(with: magic)
    else {
      throw StreamsError(.notADatabase, "this is not an SQLite database file", path: file.path)
    }
    return header
  }

  /// Nil for a file that is large, or is shorter than it was: then the page is named that is not there.
  private static func whole(_ file: any File, _ length: Int) throws -> ProofBuffer? {
    guard length > 0, length <= mostWhole else { return nil }
    let buffer = ProofBuffer(length)
    return try file.read(into: buffer.bytes, at: 0) == length ? buffer : nil
  }

  deinit { file.close() }

  /// The file's path.
  public var path: String { file.path }

  /// The page that holds the lock byte, which is nobody's.
  var lockPage: UInt32 { UInt32((1 << 30) / pageSize) + 1 }

  /// A pointer map and the pages that it describes.
  var perMap: Int { usable / 5 + 1 }

  /// The page with the pointer-map entry of a page.
  func mapPage(_ page: UInt32) -> UInt32 {
    let first = page < 2 ? 0 : (page - 2) / UInt32(perMap) * UInt32(perMap) + 2
    return first == lockPage ? first + 1 : first
  }

  func isMap(_ page: UInt32) -> Bool { hasPointerMap && page > 1 && mapPage(page) == page }

  /// Bytes of a record that stay on its page; the rest is in a chain of further pages.
  @inline(__always)
  func local(_ length: Int, isTable: Bool) -> Int {
    let most = isTable ? usable - 35 : (usable - 12) * 64 / 255 - 23
    if length <= most { return length }
    let least = (usable - 12) * 32 / 255 - 23
    let some = least + (length - least) % (usable - 4)
    return some <= most ? some : least
  }

  /// Whether this is the root of a table with rowids.
  ///
  /// - Throws: ``StreamsError``.
  public func hasRowids(_ root: UInt32) throws -> Bool {
    var byte: UInt8 = 0
    let read = try withUnsafeMutableBytes(of: &byte) {
      try file.read(into: $0, at: UInt64(root - 1) * UInt64(pageSize))
    }
    return read == 1 && (byte == ProofNode.Kind.tableInterior.rawValue || byte == ProofNode.Kind.tableLeaf.rawValue)
  }

  func damage(_ what: String, page: UInt32, cell: Int? = nil) -> StreamsError {
    StreamsError(.damagedDatabase, what, path: path, page: page, cell: cell)
  }
}

/// Memory for pages.
private final class ProofBuffer: @unchecked Sendable {
  // Sendable: filled before anybody else knows it, or one thread's alone.
  let bytes: UnsafeMutableRawBufferPointer

  init(_ count: Int) { bytes = .allocate(byteCount: count, alignment: 16) }

  deinit { bytes.deallocate() }
}

/// Reads pages for one thread, ahead where they are asked for in order.
final class ProofPages {
  // Small enough to stay in a processor's cache beside what others have there.
  private static let longest = 1 << 17
  let file: ProofFile
  private let memory: ProofBuffer
  private let buffer: UnsafeMutableRawBufferPointer
  @exclusivity(unchecked) private var start: UInt32 = 1
  @exclusivity(unchecked) private var count = 0
  private var ahead = 1
  /// The last page that may be read, also ahead: what lies after it may be written just now.
  @exclusivity(unchecked) var end: UInt32

  init(_ file: ProofFile) {
    self.file = file
    end = file.pageCount
    memory = file.whole ?? ProofBuffer(max(Self.longest, file.pageSize))
    buffer = memory.bytes
    if file.whole != nil { count = Int(file.pageCount) }
  }

  /// A page's bytes, until the next call.
  @inline(__always)
  func page(_ number: UInt32) throws -> UnsafeRawPointer {
    if number < start || Int(number - start) >= count {
      try file.beforeReading()
      try fill(number)
    }
    return UnsafeRawPointer(buffer.baseAddress!) + Int(number - start) * file.pageSize
  }

  private func fill(_ number: UInt32) throws {
    guard number >= 1, number <= end else { throw file.damage("a page is named that the file has not", page: number) }
    let after = start + UInt32(count)
    let most = buffer.count / file.pageSize
    // Pages of several tables may take turns: a small gap is still the same direction.
    ahead = number >= after && number - after < 64 ? min(most, ahead * 4) : 1
    (start, count) = (number, 0)
    let wanted = min(ahead, Int(end - number) + 1)
    let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[0..<wanted * file.pageSize])
    guard try file.file.read(into: piece, at: UInt64(number - 1) * UInt64(file.pageSize)) == piece.count else {
      throw file.damage("the page cannot be read", page: number)
    }
    count = wanted
  }
}
