/// What the rows of a table, or the entries of an index, are, whatever their order: how many, and sums of their hashes.
///
/// Besides the 128 bits of the sum there are three moments, sums of hash times rowid, its square and its cube. Of two
/// digests that differ in one row or in two rows, they show which ones.
public struct ProofDigest: Sendable, Equatable {
  /// Rows.
  public private(set) var count: UInt64 = 0
  private var low: UInt64 = 0
  private var high: UInt64 = 0
  private var moments: (UInt64, UInt64, UInt64) = (0, 0, 0)

  /// A digest of no rows.
  public init() {}

  /// The digest that ``words`` hold.
  public init(words: [UInt64]) {
    guard words.count == Self.wordCount else { return }
    (count, low, high, moments) = (words[0], words[1], words[2], (words[3], words[4], words[5]))
  }

  /// How many words a digest has.
  public static let wordCount = 6
  /// The digest as numbers: rows, sum, moments.
  public var words: [UInt64] { [count, low, high, moments.0, moments.1, moments.2] }

  /// Whether counts, sums and moments are equal.
  public static func == (left: ProofDigest, right: ProofDigest) -> Bool { left.words == right.words }

  /// Adds a row whose record lies in one piece.
  @inline(__always)
  public mutating func add(_ rowid: Int64, _ record: UnsafeRawBufferPointer) {
    guard let base = record.baseAddress else { return }
    add(rowid, ProofHash.of(rowid, bytes: base, count: record.count))
  }

  /// Adds a record that has no rowid; the order does not matter.
  public mutating func add(_ record: UnsafeRawBufferPointer) { add(0, record) }

  /// Adds a row by its hash.
  @inline(__always)
  public mutating func add(_ rowid: Int64, _ hash: (low: UInt64, high: UInt64)) {
    let key = UInt64(bitPattern: rowid)
    count &+= 1
    low &+= hash.low
    high &+= hash.high
    let (first, second) = (hash.low &* key, hash.low &* key &* key)
    moments.0 &+= first
    moments.1 &+= second
    moments.2 &+= second &* key
  }

  /// Adds all rows of another digest.
  public mutating func add(_ other: ProofDigest) {
    self = ProofDigest(words: zip(words, other.words).map { $0 &+ $1 })
  }

  /// The rowids of the rows in which this digest differs from another, where they are one or two and at most `largest`;
  /// empty if there are more, or they cannot be found.
  public func rows(differingFrom other: ProofDigest, largest: Int64) -> [Int64] {
    let sums = zip(words, other.words).map { $0 &- $1 }.dropFirst().filter { _ in true }
    let (d0, d1, d2, d3) = (sums[0], sums[2], sums[3], sums[4])
    let bound = UInt64(max(0, largest))
    if d0 != 0, let key = Self.quotient(d1, d0), Self.isAt(key, bound), key &* d1 == d2, key &* d2 == d3 {
      return [Int64(bitPattern: key)]
    }
    // Two rows: their keys are the roots of a polynomial whose coefficients solve two equations.
    let determinant = d0 &* d2 &- d1 &* d1
    guard determinant != 0, let sum = Self.quotient(d0 &* d3 &- d1 &* d2, determinant),
      let product = Self.quotient(d1 &* d3 &- d2 &* d2, determinant), sum <= 2 &* bound, bound < 1 << 31
    else { return [] }
    return Self.roots(sum: sum, product: product, bound)
  }

  private static func isAt(_ key: UInt64, _ bound: UInt64) -> Bool { key <= bound }

  private static func roots(sum: UInt64, product: UInt64, _ bound: UInt64) -> [Int64] {
    let square = sum.multipliedReportingOverflow(by: sum)
    let rest = product.multipliedReportingOverflow(by: 4)
    guard !square.overflow, !rest.overflow, square.partialValue >= rest.partialValue else { return [] }
    let difference = square.partialValue - rest.partialValue
    let root = UInt64(Double(difference).squareRoot().rounded())
    guard root &* root == difference, root <= sum, (sum - root) & 1 == 0, (sum + root) / 2 <= bound else { return [] }
    return [Int64((sum - root) / 2), Int64((sum + root) / 2)]
  }

  /// The smallest number that times `divisor` gives `value`, modulo 2^64; nil if there is none.
  private static func quotient(_ value: UInt64, _ divisor: UInt64) -> UInt64? {
    let shift = divisor.trailingZeroBitCount
    guard shift < 64, value == 0 || value.trailingZeroBitCount >= shift else { return nil }
    let odd = divisor >> UInt64(shift)
    // Newton's iteration doubles the bits that are right: 3, 6, 12, 24, 48, 96.
    var inverse = odd &* 3 ^ 2
    for _ in 0..<4 { inverse = inverse &* (2 &- odd &* inverse) }
    let result = (value >> UInt64(shift)) &* inverse
    return shift == 0 ? result : result & (UInt64.max >> UInt64(shift))
  }
}
