/// Changes bytes of a database file, with some knowledge of what they mean. It reads the format by its own code.
struct FileMutator {
  private(set) var bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  private var pageSize: Int { number(16, 2) == 1 ? 65536 : number(16, 2) }
  private var pages: Int { bytes.count / pageSize }

  private func number(_ place: Int, _ length: Int) -> Int {
    bytes[place..<place + length].reduce(0) { $0 << 8 | Int($1) }
  }

  private mutating func write(_ value: Int, _ place: Int, _ length: Int) {
    guard place + length <= bytes.count else { return }
    for byte in 0..<length { bytes[place + byte] = UInt8(truncatingIfNeeded: value >> (8 * (length - 1 - byte))) }
  }

  /// Makes one change; returns its name.
  mutating func mutate(_ random: inout SeededRandom) -> String {
    let page = Int.random(in: 0..<pages, using: &random)
    switch Int.random(in: 0..<16, using: &random) {
    case 0: return bit(in: 0..<bytes.count, &random)
    case 1: return bit(in: 0..<100, &random)
    case 2: return bit(in: start(page)..<start(page) + 12, &random)
    case 3: return byte(page, &random)
    case 4, 5: return cell(page, "pointer", &random) { $0.write(Int.random(in: 0..<$0.pageSize, using: &$2), $1[0], 2) }
    case 6:
      return cell(page, "swapped cells", &random) { file, places, _ in file.swap(places[0], places[1 % places.count], 2)
      }
    case 7:
      return cell(page, "doubled cell", &random) { file, places, _ in
        file.write(file.number(places[0], 2), places[1 % places.count], 2)
      }
    case 8: return lostCell(page, &random)
    case 9: return cell(page, "cell", &random) { $0.changeCell($1[0], page: page, &$2) }
    case 10: return swapPages(page, &random)
    case 11, 12: return mapEntry(&random)
    case 13: return header(&random)
    case 14: return count(page, &random)
    default: return freePage(&random)
    }
  }

  private func start(_ page: Int) -> Int { page * pageSize + (page == 0 ? 100 : 0) }

  private mutating func bit(in range: Range<Int>, _ random: inout SeededRandom) -> String {
    bytes[Int.random(in: range, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    return range.count == 100 ? "header's bit" : range.count == 12 ? "page's head" : "bit"
  }

  private mutating func byte(_ page: Int, _ random: inout SeededRandom) -> String {
    let place = page * pageSize + Int.random(in: 0..<pageSize, using: &random)
    bytes[place] = UInt8.random(in: 0...255, using: &random)
    return "byte"
  }

  private mutating func swap(_ left: Int, _ right: Int, _ length: Int) {
    for byte in 0..<length { bytes.swapAt(left + byte, right + byte) }
  }

  /// Where a tree's page has the pointers to its cells; nothing of another page.
  private func pointers(_ page: Int) -> [Int] {
    let head = start(page)
    guard [2, 5, 10, 13].contains(bytes[head]) else { return [] }
    let first = head + (bytes[head] < 10 ? 12 : 8)
    return (0..<number(head + 3, 2)).map { first + 2 * $0 }.filter { $0 + 2 <= (page + 1) * pageSize }
  }

  private mutating func cell(
    _ page: Int, _ name: String, _ random: inout SeededRandom,
    _ change: (inout FileMutator, [Int], inout SeededRandom) -> Void
  ) -> String {
    var places = pointers(page)
    guard !places.isEmpty else { return byte(page, &random) }
    places.shuffle(using: &random)
    change(&self, places, &random)
    return name
  }

  /// One of the first bytes of a cell: lengths, keys, types, and the number of a child.
  private mutating func changeCell(_ pointer: Int, page: Int, _ random: inout SeededRandom) {
    let place = page * pageSize + number(pointer, 2) + Int.random(in: 0..<8, using: &random)
    guard place < bytes.count else { return }
    bytes[place] = UInt8.random(in: 0..<32, using: &random)
  }

  private mutating func lostCell(_ page: Int, _ random: inout SeededRandom) -> String {
    cell(page, "lost cell", &random) { file, places, random in
      let (head, lost) = (file.start(page), places[0])
      guard let last = places.max() else { return }
      for place in stride(from: lost, to: last, by: 2) { file.write(file.number(place + 2, 2), place, 2) }
      file.write(places.count - 1, head + 3, 2)
      // Some leave the right number of fragments.
      let fragments = Int(file.bytes[head + 7]) + Int.random(in: 4..<40, using: &random)
      if Bool.random(using: &random) { file.write(fragments, head + 7, 1) }
    }
  }

  private mutating func swapPages(_ page: Int, _ random: inout SeededRandom) -> String {
    let other = Int.random(in: 1..<pages, using: &random)
    guard page > 0, page != other else { return byte(page, &random) }
    let kept = bytes[page * pageSize..<(page + 1) * pageSize]
    let isSwap = Bool.random(using: &random)
    bytes.replaceSubrange(
      page * pageSize..<(page + 1) * pageSize, with: Array(bytes[other * pageSize..<(other + 1) * pageSize]))
    if isSwap { bytes.replaceSubrange(other * pageSize..<(other + 1) * pageSize, with: Array(kept)) }
    return isSwap ? "swapped pages" : "doubled page"
  }

  /// Of a file without pointer maps: the number in front of a page, which an overflow page has.
  private mutating func mapEntry(_ random: inout SeededRandom) -> String {
    guard number(52, 4) != 0 else {
      write(Int.random(in: 0..<pages + 3, using: &random), Int.random(in: 1..<pages, using: &random) * pageSize, 4)
      return "chain"
    }
    let described = pageSize / 5
    let map = Int.random(in: 0..<(pages - 2) / (described + 1) + 1, using: &random) * (described + 1) + 1
    let entry = map * pageSize + 5 * Int.random(in: 0..<min(described, max(1, pages - map - 1)), using: &random)
    if Bool.random(using: &random) {
      write(Int.random(in: 0...6, using: &random), entry, 1)
    } else {
      write(Int.random(in: 0...pages + 1, using: &random), entry + 1, 4)
    }
    return "map entry"
  }

  /// Counts and numbers in the header: pages, free pages, the last root, what vacuums.
  private mutating func header(_ random: inout SeededRandom) -> String {
    let place = [28, 32, 36, 44, 52, 64, 20, 24][Int.random(in: 0..<8, using: &random)]
    let value = place == 20 ? number(20, 4) : number(place, 4)
    write(value + [-1, 1, 2][Int.random(in: 0..<3, using: &random)], place, 4)
    return "header's number \(place)"
  }

  private mutating func count(_ page: Int, _ random: inout SeededRandom) -> String {
    guard !pointers(page).isEmpty else { return byte(page, &random) }
    let (offset, length) = [(1, 2), (3, 2), (5, 2), (7, 1)][Int.random(in: 0..<4, using: &random)]
    let place = start(page) + offset
    write(number(place, length) + [-4, -1, 1, 3][Int.random(in: 0..<4, using: &random)], place, length)
    return "page's number"
  }

  /// A word of the first page of the list of free ones; the file's end where there is none.
  private mutating func freePage(_ random: inout SeededRandom) -> String {
    let trunk = number(32, 4)
    guard trunk > 0, trunk <= pages else {
      if Bool.random(using: &random) { bytes.removeLast(pageSize) } else { bytes += bytes.suffix(pageSize) }
      return "length"
    }
    let place = (trunk - 1) * pageSize + 4 * Int.random(in: 0..<4, using: &random)
    write(Int.random(in: 0...pages + 1, using: &random), place, 4)
    return "free page"
  }
}
