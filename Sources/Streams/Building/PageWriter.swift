/// Hands out pages of a new database file in order and writes them, mostly one after the other in large pieces.
///
/// Pages are append-only: once written, only page 1, roots reserved at the start and pointer-map pages are written
/// again (I2). A pointer-map entry is set exactly once, to a value that depends on row order alone; so an entry that a
/// crashed run has already set is set to the same value again (I8).
public final class PageWriter {
  /// How many bytes are gathered before they go to the file.
  private static let regionBytes = 1 << 20
  private static let openMaps = 64

  /// Sizes of the file.
  public let geometry: PageGeometry
  /// The number that the next page gets.
  public private(set) var nextPage: UInt32
  /// The file being written.
  public let file: any File

  /// Hears of parts of trees when their pages are in the file, where they stay as they are. Called by the thread that
  /// writes.
  public var onFinished: (([ProofPart]) -> Void)?
  /// Parts whose last page may still be in the region.
  private var finishedParts: [ProofPart] = []

  private let region: PageBuffer
  private let perRegion: UInt32
  @exclusivity(unchecked) private var regionStart: UInt32
  @exclusivity(unchecked) private var maps: [UInt32: PointerMapPage] = [:]
  /// The pointer-map page that was changed last, and is dirty.
  @exclusivity(unchecked) private var lastMap: (number: UInt32, buffer: PageBuffer)?

  private struct PointerMapPage {
    var buffer: PageBuffer
    var isDirty: Bool
  }

  /// Begins a file, or continues after `nextPage` once the file was cut to the length that a checkpoint names.
  public init(file: any File, geometry: PageGeometry, nextPage: UInt32 = 2) {
    self.file = file
    self.geometry = geometry
    self.nextPage = nextPage
    regionStart = nextPage
    region = PageBuffer(size: max(Self.regionBytes, geometry.pageSize))
    perRegion = UInt32(region.size / geometry.pageSize)
  }

  /// Bytes of the file so far.
  public var length: UInt64 { UInt64(nextPage - 1) * UInt64(geometry.pageSize) }

  /// Gives out the next page that can hold data.
  ///
  /// - Throws: ``StreamsError``.
  public func allocate() throws -> UInt32 {
    while nextPage < UInt32.max, !geometry.isData(nextPage) {
      if geometry.isPointerMap(nextPage) {
        maps[nextPage] = PointerMapPage(buffer: PageBuffer(size: geometry.pageSize), isDirty: true)
        if maps.count > Self.openMaps { try writeMaps(keeping: Self.openMaps / 2) }
      } else {
        // Nobody writes the page of the lock byte.
        try slot(nextPage)?.clear(geometry.pageSize)
      }
      nextPage += 1
    }
    guard nextPage < UInt32.max - 1 else {
      throw StreamsError(.tooLarge, "the database would exceed SQLite's number of pages", path: file.path)
    }
    defer { nextPage += 1 }
    return nextPage
  }

  /// Writes a page that ``allocate()`` gave out, or page 1.
  func write(_ page: UInt32, _ bytes: UnsafeRawPointer) throws {
    if let slot = try slot(page) {
      slot.copyMemory(from: bytes, byteCount: geometry.pageSize)
    } else {
      try file.write(UnsafeRawBufferPointer(start: bytes, count: geometry.pageSize), at: position(page))
    }
  }

  /// Where a page's bytes are gathered, all of which the caller writes: valid until the next call of any function. Nil
  /// for a page that lies before those that are gathered.
  func slot(_ page: UInt32) throws -> UnsafeMutableRawPointer? {
    guard page >= regionStart else { return nil }
    if page - regionStart >= perRegion { try flushRegion(newStart: page) }
    return region.base + Int(page - regionStart) * geometry.pageSize
  }

  private func position(_ page: UInt32) -> UInt64 { UInt64(page - 1) * UInt64(geometry.pageSize) }

  private func flushRegion(newStart: UInt32) throws {
    let end = min(nextPage, newStart)
    if end > regionStart {
      let length = min(Int(end - regionStart) * geometry.pageSize, region.size)
      try file.write(UnsafeRawBufferPointer(start: region.base, count: length), at: position(regionStart))
      file.beginSync(at: position(regionStart), length: length)
    }
    regionStart = newStart
    guard let onFinished, !finishedParts.isEmpty else { return }
    onFinished(finishedParts.filter { $0.page < newStart })
    finishedParts.removeAll { $0.page < newStart }
  }

  /// Takes notice of a part of a tree that is finished.
  func finished(_ part: @autoclosure () -> ProofPart) { if onFinished != nil { finishedParts.append(part()) } }

  /// What a pointer-map entry says of a page.
  enum PageRole: UInt8 {
    case root = 1
    case firstOverflow = 3
    case nextOverflow = 4
    case treeNode = 5
  }

  /// Sets the entry of a page. Without pointer maps nothing happens.
  func setParent(of page: UInt32, _ role: PageRole, _ parent: UInt32) throws {
    guard geometry.hasPointerMap else { return }
    // Open pages come from checkpoints too, so the numbers on them are not believed.
    let number = page >= 2 ? geometry.pointerMapPage(for: page) : 0
    guard number > 0, page > number, page < nextPage else {
      throw StreamsError(.damagedCheckpoint, "an open page names the impossible page \(page)", path: file.path)
    }
    let buffer = try map(number)
    let offset = 5 * Int(page - number - 1)
    buffer.base.storeBytes(of: role.rawValue, toByteOffset: offset, as: UInt8.self)
    buffer.base.storeBigEndian(parent, at: offset + 1)
  }

  private func map(_ number: UInt32) throws -> PageBuffer {
    if let lastMap, lastMap.number == number { return lastMap.buffer }
    let buffer = try openMap(number)
    lastMap = (number, buffer)
    return buffer
  }

  private func openMap(_ number: UInt32) throws -> PageBuffer {
    if let open = maps[number] {
      if !open.isDirty { maps[number]?.isDirty = true }
      return open.buffer
    }
    // A pointer-map page may still lie in the region that was not written yet.
    if number >= regionStart { try flushRegion(newStart: nextPage) }
    if maps.count >= Self.openMaps { try writeMaps(keeping: Self.openMaps / 2) }
    let buffer = PageBuffer(size: geometry.pageSize)
    _ = try file.read(into: buffer.bytes, at: position(number))
    maps[number] = PointerMapPage(buffer: buffer, isDirty: true)
    return buffer
  }

  private func writeMaps(keeping kept: Int) throws {
    lastMap = nil
    let numbers = maps.keys.sorted()
    for number in numbers {
      guard let map = maps[number], map.isDirty else { continue }
      try write(number, map.buffer.base)
      maps[number]?.isDirty = false
    }
    for number in numbers.dropLast(kept) { maps[number] = nil }
  }

  /// Writes everything below ``nextPage`` to the file; durable after the file's sync.
  ///
  /// - Throws: ``StreamsError``.
  public func flush() throws {
    try writeMaps(keeping: Self.openMaps)
    try flushRegion(newStart: nextPage)
    if try file.size() < length { try file.truncate(to: length) }
  }
}
