/// Sizes and places that follow from a database's page size: payload limits, pointer-map pages, the lock-byte page.
///
/// Source of the rules: SQLite, "Database File Format", sections 1.5, 1.8, 2.
public struct PageGeometry: Sendable, Equatable {
  /// Bytes of a database page: a power of two from 512 to 65536.
  public let pageSize: Int
  /// Bytes of a page that SQLite uses: page size less reserved bytes.
  public let usableSize: Int
  /// Whether the file has pointer-map pages.
  public let hasPointerMap: Bool

  /// Makes a geometry; nil when the sizes are not allowed.
  public init?(pageSize: Int, reserved: Int = 0, hasPointerMap: Bool) {
    guard pageSize >= 512, pageSize <= 65536, pageSize & (pageSize - 1) == 0 else { return nil }
    guard reserved >= 0, pageSize - reserved >= 480 else { return nil }
    self.pageSize = pageSize
    usableSize = pageSize - reserved
    self.hasPointerMap = hasPointerMap
  }

  /// The largest payload that a table leaf keeps on the page.
  public var maximumTableLocal: Int { usableSize - 35 }
  /// The largest payload that an index page keeps on the page.
  public var maximumIndexLocal: Int { (usableSize - 12) * 64 / 255 - 23 }
  /// What stays on the page at least when a payload overflows.
  public var minimumLocal: Int { (usableSize - 12) * 32 / 255 - 23 }

  /// Bytes of a payload that stay on the page, given the page kind's maximum.
  public func localLength(payload: Int, maximum: Int) -> Int {
    if payload <= maximum { return payload }
    let length = minimumLocal + (payload - minimumLocal) % (usableSize - 4)
    return length <= maximum ? length : minimumLocal
  }

  /// The page that holds the lock byte at 1 GiB; it never holds data.
  public var lockBytePage: UInt32 { UInt32(0x4000_0000 / pageSize) + 1 }

  /// The pointer-map page that describes `page`.
  public func pointerMapPage(for page: UInt32) -> UInt32 {
    let perMap = UInt32(usableSize / 5) + 1
    let map = (page - 2) / perMap * perMap + 2
    return map == lockBytePage ? map + 1 : map
  }

  /// Whether this page is a pointer-map page.
  public func isPointerMap(_ page: UInt32) -> Bool {
    hasPointerMap && page >= 2 && pointerMapPage(for: page) == page
  }

  /// Whether this page can hold data.
  public func isData(_ page: UInt32) -> Bool { page != lockBytePage && !isPointerMap(page) }
}
