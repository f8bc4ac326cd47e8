/// Which pages of a file have an owner: every page exactly one, as the pointer maps say, too. One bit a page.
final class ProofClaims {
  /// What a pointer-map entry says of a page.
  enum Role: UInt8 {
    case root = 1
    case free = 2
    case firstOverflow = 3
    case nextOverflow = 4
    case treeNode = 5
  }

  private let file: ProofFile
  @exclusivity(unchecked) private var bits: [UInt64] = []
  /// By pointer map: the sum of what its entries must say, whatever the order in which their pages are met.
  @exclusivity(unchecked) private var sums: [UInt64] = []

  init(_ file: ProofFile) { self.file = file }

  /// Takes a page that `parent` names. Throws when it is somebody else's.
  func claim(_ page: UInt32, _ role: Role, from parent: UInt32) throws {
    guard page >= 1, page <= file.pageCount, page != file.lockPage, !file.isMap(page) else {
      throw file.damage("page \(parent) names page \(page), which cannot hold anything", page: parent)
    }
    try mark(page)
    guard file.hasPointerMap, page > 1 else { return }
    let map = Int(page - 2) / file.perMap
    Self.grow(&sums, to: map + 1)
    sums[map] &+= Self.entry(page, role: role.rawValue, owner: role == .root || role == .free ? 0 : parent)
  }

  /// A hash of what a pointer map says of a page.
  private static func entry(_ page: UInt32, role: UInt8, owner: UInt32) -> UInt64 {
    var state = ProofHash.start(UInt64(page), Int(role))
    ProofHash.turn(&state, left: UInt64(owner), right: 1)
    return ProofHash.end(state).low
  }

  private static func grow(_ words: inout [UInt64], to count: Int) {
    guard words.count < count else { return }
    words.append(contentsOf: repeatElement(0, count: max(count - words.count, words.count)))
  }

  private func mark(_ page: UInt32) throws {
    let (word, bit) = (Int(page) >> 6, UInt64(1) << UInt64(page & 63))
    Self.grow(&bits, to: word + 1)
    guard bits[word] & bit == 0 else { throw file.damage("the page has more than one owner", page: page) }
    bits[word] |= bit
  }

  /// Takes over what another thread claimed.
  func add(_ other: ProofClaims) throws {
    Self.grow(&sums, to: other.sums.count)
    for map in other.sums.indices { sums[map] &+= other.sums[map] }
    Self.grow(&bits, to: other.bits.count)
    for word in other.bits.indices {
      let twice = bits[word] & other.bits[word]
      guard twice == 0 else {
        throw file.damage("the page has more than one owner", page: UInt32(word * 64 + twice.trailingZeroBitCount))
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
    for first in stride(from: UInt64(2), through: file.hasPointerMap ? UInt64(file.pageCount) : 0, by: file.perMap) {
      guard file.mapPage(UInt32(first)) <= file.pageCount else { break }
      try mark(file.mapPage(UInt32(first)))
    }
    Self.grow(&bits, to: Int(file.pageCount) / 64 + 1)
    for page in 1...file.pageCount where bits[Int(page) >> 6] & (1 << UInt64(page & 63)) == 0 {
      throw file.damage("the page belongs to nothing", page: page)
    }
    if file.hasPointerMap { try compareMaps(pages) }
  }

  /// Every page has its owner now; the pointer maps must say the same.
  private func compareMaps(_ pages: ProofPages) throws {
    for (map, first) in stride(from: UInt64(2), through: UInt64(file.pageCount), by: file.perMap).enumerated() {
      let number = file.mapPage(UInt32(first))
      guard number <= file.pageCount else { break }
      let described = Int(min(first + UInt64(file.perMap) - 1, UInt64(file.pageCount)) - UInt64(number))
      if file.isDense { try expectUnused(pages, number, described: described) }
      let bytes = try pages.page(number)
      var sum: UInt64 = 0
      for entry in 0..<described where number + 1 + UInt32(entry) != file.lockPage {
        sum &+= Self.entry(
          number + 1 + UInt32(entry), role: bytes.proofByte(5 * entry), owner: bytes.proof32(5 * entry + 1))
      }
      guard sum == (map < sums.count ? sums[map] : 0) else {
        throw file.damage("the pointer map does not name the owners that its pages have", page: number)
      }
    }
  }

  private func expectZero(_ pages: ProofPages, _ number: UInt32, from offset: Int) throws {
    guard try pages.page(number).proofIsZero(offset, file.pageSize - offset) else {
      throw file.damage("the page has bytes without a meaning", page: number)
    }
  }

  private func expectUnused(_ pages: ProofPages, _ number: UInt32, described: Int) throws {
    try expectZero(pages, number, from: 5 * described)
    for entry in 0..<described where number + 1 + UInt32(entry) == file.lockPage {
      guard try pages.page(number).proofIsZero(5 * entry, 5) else {
        throw file.damage("the pointer map describes the page of the lock byte", page: number)
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
      guard count <= file.usable / 4 - 2, left >= 0 else {
        throw file.damage("the list of free pages is damaged", page: trunk)
      }
      for index in 0..<count { try claim(page.proof32(8 + 4 * index), .free, from: trunk) }
      (parent, trunk) = (trunk, next)
    }
    guard left == 0 else { throw file.damage("the list of free pages is shorter than the header says", page: 1) }
  }
}
