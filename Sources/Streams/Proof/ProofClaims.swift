/// Which pages of a file have an owner: every page exactly one, as the pointer maps tell it, too. One bit a page.
final class ProofClaims {
  /// What a pointer-map entry says of a page.
  enum Role: UInt8 {
    case root = 1
    case free = 2
    case firstOverflow = 3
    case nextOverflow = 4
    case treeNode = 5
  }

  private static let openMaps = 256
  private let file: ProofFile
  @exclusivity(unchecked) private var bits: [UInt64]
  private let maps: UnsafeMutableRawBufferPointer
  private var mapNumbers: [UInt32]

  init(_ file: ProofFile) {
    self.file = file
    bits = Array(repeating: 0, count: Int(file.pageCount) / 64 + 1)
    let open = file.hasPointerMap ? Self.openMaps : 0
    maps = .allocate(byteCount: open * file.pageSize, alignment: 16)
    mapNumbers = Array(repeating: 0, count: open)
  }

  deinit { maps.deallocate() }

  /// Takes a page that `parent` names. Throws when it is somebody else's or its entry in the pointer map is another.
  func claim(_ page: UInt32, _ role: Role, from parent: UInt32) throws {
    guard page >= 1, page <= file.pageCount, page != file.lockPage, !file.isMap(page) else {
      throw file.damage("page \(parent) names page \(page), which cannot hold anything", parent)
    }
    try mark(page)
    guard file.hasPointerMap, page > 1 else { return }
    let (map, entry) = (try map(file.mapPage(page)), 5 * Int(page - file.mapPage(page) - 1))
    let owner = role == .root || role == .free ? 0 : parent
    guard map.proofByte(entry) == role.rawValue, map.proof32(entry + 1) == owner else {
      throw file.damage("the pointer map does not say of page \(page) that page \(parent) owns it", file.mapPage(page))
    }
  }

  private func mark(_ page: UInt32) throws {
    let (word, bit) = (Int(page) >> 6, UInt64(1) << UInt64(page & 63))
    guard bits[word] & bit == 0 else { throw file.damage("the page has more than one owner", page) }
    bits[word] |= bit
  }

  private func map(_ number: UInt32) throws -> UnsafeRawPointer {
    let place = Int(number) / (file.usable / 5 + 1) % Self.openMaps
    let target = UnsafeMutableRawBufferPointer(rebasing: maps[place * file.pageSize..<(place + 1) * file.pageSize])
    if mapNumbers[place] != number {
      guard number <= file.pageCount,
        try file.file.read(into: target, at: UInt64(number - 1) * UInt64(file.pageSize)) == file.pageSize
      else { throw file.damage("the pointer map cannot be read", number) }
      mapNumbers[place] = number
    }
    return UnsafeRawPointer(target.baseAddress!)
  }

  /// Takes over what another thread claimed.
  func add(_ other: ProofClaims) throws {
    for word in bits.indices {
      let twice = bits[word] & other.bits[word]
      guard twice == 0 else {
        throw file.damage("the page has more than one owner", UInt32(word * 64 + twice.trailingZeroBitCount))
      }
      bits[word] |= other.bits[word]
    }
  }

  /// Takes the pages that no tree owns. Throws when one is left, or when bytes of a dense file have no meaning.
  func finish() throws {
    try claimFree()
    let pages = ProofPages(file)
    if file.lockPage <= file.pageCount {
      try mark(file.lockPage)
      if file.isDense { try expectZero(pages, file.lockPage, from: 0) }
    }
    let perMap = UInt64(file.usable / 5 + 1)
    for first in stride(from: UInt64(2), through: file.hasPointerMap ? UInt64(file.pageCount) : 0, by: Int(perMap)) {
      let number = file.mapPage(UInt32(first))
      guard number <= file.pageCount else { break }
      try mark(number)
      let described = min(first + perMap - 1, UInt64(file.pageCount)) - UInt64(number)
      if file.isDense { try expectUnused(pages, number, described: Int(described)) }
    }
    for page in 1...file.pageCount where bits[Int(page) >> 6] & (1 << UInt64(page & 63)) == 0 {
      throw file.damage("the page belongs to nothing", page)
    }
  }

  private func expectZero(_ pages: ProofPages, _ number: UInt32, from offset: Int) throws {
    guard try pages.page(number).proofIsZero(offset, file.pageSize - offset) else {
      throw file.damage("the page has bytes without a meaning", number)
    }
  }

  private func expectUnused(_ pages: ProofPages, _ number: UInt32, described: Int) throws {
    try expectZero(pages, number, from: 5 * described)
    for entry in 0..<described where number + 1 + UInt32(entry) == file.lockPage {
      guard try pages.page(number).proofIsZero(5 * entry, 5) else {
        throw file.damage("the pointer map describes the page of the lock byte", number)
      }
    }
  }

  private func claimFree() throws {
    let pages = ProofPages(file)
    var (trunk, parent, left) = (file.freelist.first, UInt32(1), Int(file.freelist.count))
    while trunk != 0 {
      try claim(trunk, .free, from: parent)
      let page = try pages.page(trunk)
      let (next, count) = (page.proof32(0), Int(page.proof32(4)))
      left -= 1 + count
      guard count <= file.usable / 4 - 2, left >= 0 else { throw file.damage("the list of free pages is damaged", trunk) }
      for index in 0..<count { try claim(page.proof32(8 + 4 * index), .free, from: trunk) }
      (parent, trunk) = (trunk, next)
    }
    guard left == 0 else { throw file.damage("the list of free pages is shorter than the header says", 1) }
  }
}
