/// The two Huffman codes of one block, as they are written.
struct DeflateCode {
  /// A length of a word, or a run of lengths (3.2.7), with the bits that follow the symbol.
  private struct Run {
    var symbol: Int
    var extra = 0
    var bits = 0
  }

  /// The code that both sides know: its block has no header.
  static let fixed = DeflateCode(
    literalLengths: DeflateFormat.fixedLiteralLengths, distanceLengths: DeflateFormat.fixedDistanceLengths)

  private let literalLengths: [UInt8]
  private let distanceLengths: [UInt8]
  private let literalCodes: [UInt16]
  private let distanceCodes: [UInt16]
  private var runs: [Run] = []
  private var runLengths: [UInt8] = []
  private let isFixed: Bool

  private init(literalLengths: [UInt8], distanceLengths: [UInt8], isFixed: Bool = true) {
    self.literalLengths = literalLengths
    self.distanceLengths = distanceLengths
    self.isFixed = isFixed
    literalCodes = DeflateFormat.codes(literalLengths)
    distanceCodes = DeflateFormat.codes(distanceLengths)
  }

  /// The best code for symbols of these frequencies.
  init(literals: [Int], distances: [Int]) {
    self.init(
      literalLengths: HuffmanLengths.make(literals, limit: DeflateFormat.longestCode),
      distanceLengths: HuffmanLengths.make(distances, limit: DeflateFormat.longestCode), isFixed: false)
    runs = Self.runs(literalLengths + distanceLengths)
    var frequencies = [Int](repeating: 0, count: DeflateFormat.lengthCodeOrder.count)
    for run in runs { frequencies[run.symbol] += 1 }
    runLengths = HuffmanLengths.make(frequencies, limit: 7)
  }

  /// Bits of a block with these symbols, without the bits that follow lengths and distances.
  func size(_ literals: [Int], _ distances: [Int]) -> Int {
    var bits = 3
    for (symbol, count) in literals.enumerated() { bits += count * Int(literalLengths[symbol]) }
    for (symbol, count) in distances.enumerated() { bits += count * Int(distanceLengths[symbol]) }
    guard !isFixed else { return bits }
    return runs.reduce(bits + 14 + 3 * headerCount) { $0 + Int(runLengths[$1.symbol]) + $1.bits }
  }

  /// The type of the block and, where it has its own code, that code. The bit that marks the last block stands before
  /// it.
  func writeHeader(_ writer: inout BitWriter) {
    writer.put(isFixed ? 1 : 2, 2)
    guard !isFixed else { return }
    writer.put(literalLengths.count - 257, 5)
    writer.put(distanceLengths.count - 1, 5)
    writer.put(headerCount - 4, 4)
    for symbol in DeflateFormat.lengthCodeOrder.prefix(headerCount) { writer.put(Int(runLengths[symbol]), 3) }
    let codes = DeflateFormat.codes(runLengths)
    for run in runs {
      writer.put(Int(codes[run.symbol]), Int(runLengths[run.symbol]))
      writer.put(run.extra, run.bits)
    }
  }

  func writeLiteral(_ symbol: Int, _ writer: inout BitWriter) {
    writer.put(Int(literalCodes[symbol]), Int(literalLengths[symbol]))
  }

  func writeDistance(_ symbol: Int, _ writer: inout BitWriter) {
    writer.put(Int(distanceCodes[symbol]), Int(distanceLengths[symbol]))
  }

  /// How many lengths of the code for lengths are written: up to the last that is used, four at least.
  private var headerCount: Int {
    max(4, (DeflateFormat.lengthCodeOrder.lastIndex { runLengths[$0] > 0 } ?? 0) + 1)
  }

  private static func runs(_ lengths: [UInt8]) -> [Run] {
    var runs: [Run] = []
    var rest = lengths[...]
    while let first = rest.first {
      let count = rest.prefix { $0 == first }.count
      let run: Run
      switch (first, count) {
      case (0, 11...): run = Run(symbol: 18, extra: min(count, 138) - 11, bits: 7)
      case (0, 3...): run = Run(symbol: 17, extra: count - 3, bits: 3)
      case (_, 4...) where first > 0:
        runs.append(Run(symbol: Int(first)))
        rest = rest.dropFirst()
        run = Run(symbol: 16, extra: min(count - 1, 6) - 3, bits: 2)
      default: run = Run(symbol: Int(first))
      }
      runs.append(run)
      rest = rest.dropFirst(length(of: run))
    }
    return runs
  }

  private static func length(of run: Run) -> Int {
    switch run.symbol {
    case 16, 17: return run.extra + 3
    case 18: return run.extra + 11
    default: return 1
    }
  }
}
