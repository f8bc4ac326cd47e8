import Foundation
import Streams

/// The bytes of one file: what the kernel has, and what the disk may still have instead.
///
/// A second name in a folder of the simulation keeps the file alive, so that a removal can be undone with the same
/// inode.
final class SimulatedNode {
  static let sector = 512
  /// Older contents of a sector that are remembered; of more, the durable and the newest ones.
  private static let greatestVersions = 4

  let hold: String
  private let disk = LocalFileSystem()
  /// The durable length, then every one since.
  private var sizes: [UInt64]
  /// Contents before each write since the last sync, the durable one first; empty stands for zeros.
  private var sectors: [Int: [[UInt8]]] = [:]
  /// Sectors of a sync that failed: the kernel takes them for clean, the disk never had them.
  private var lost: Set<Int> = []

  init(hold: String, size: UInt64) {
    self.hold = hold
    sizes = [size]
  }

  /// Before bytes are written: what was there is still what the disk has.
  func willWrite(_ file: any File, _ range: Range<Int>) throws {
    guard !range.isEmpty else { return }
    try keep(file, range.lowerBound / Self.sector..<(range.upperBound - 1) / Self.sector + 1)
    if range.upperBound > Int(try file.size()) { sizes.append(UInt64(range.upperBound)) }
  }

  func willTruncate(_ file: any File, to length: UInt64) throws {
    let size = Int(try file.size())
    if Int(length) < size { try keep(file, Int(length) / Self.sector..<(size - 1) / Self.sector + 1) }
    sizes.append(length)
  }

  private func keep(_ file: any File, _ range: Range<Int>) throws {
    var bytes = [UInt8](repeating: 0, count: range.count * Self.sector)
    let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: UInt64(range.lowerBound * Self.sector)) }
    for sector in range {
      let start = (sector - range.lowerBound) * Self.sector
      let old = start >= count ? [] : Array(bytes[start..<start + Self.sector])
      lost.remove(sector)
      if sectors[sector, default: []].count < Self.greatestVersions { sectors[sector, default: []].append(old) }
    }
  }

  func didSync(size: UInt64) {
    sectors = sectors.filter { lost.contains($0.key) }
    sizes = [size]
  }

  func didFailToSync() { lost.formUnion(sectors.keys) }

  /// The machine lost its power: gives the file what the disk may have.
  func losePower(_ survival: Survival, _ random: inout DiskRandom) throws {
    let length = random.flag() ? sizes[0] : sizes[random.below(sizes.count)]
    try restore(length: survival == .everything ? sizes[sizes.count - 1] : survival == .nothing ? sizes[0] : length) {
      sector, versions in
      if lost.contains(sector) || survival == .nothing { return versions[0] }
      let choice = survival == .everything ? versions.count : random.below(versions.count + 1)
      return choice < versions.count ? versions[choice] : nil
    }
  }

  /// The process ended and another one reads from the disk again what a failed sync left behind.
  func forgetLost() throws {
    guard !lost.isEmpty else { return }
    try restore(length: nil) { sector, versions in lost.contains(sector) ? versions[0] : nil }
  }

  private func restore(length: UInt64?, _ choose: (Int, [[UInt8]]) -> [UInt8]?) throws {
    guard !sectors.isEmpty || sizes.count > 1 else { return }
    let file = try disk.open(hold, .update)
    defer { file.close() }
    let current = try file.size()
    let end = length ?? current
    for sector in sectors.keys.sorted() {
      guard let versions = sectors[sector], var old = choose(sector, versions) else { continue }
      let start = UInt64(sector * Self.sector)
      guard start < end else { continue }
      if old.isEmpty { old = [UInt8](repeating: 0, count: Self.sector) }
      try old.prefix(Int(min(end - start, UInt64(Self.sector)))).withUnsafeBytes { try file.write($0, at: start) }
    }
    if try file.size() != end { try file.truncate(to: end) }
  }
}
