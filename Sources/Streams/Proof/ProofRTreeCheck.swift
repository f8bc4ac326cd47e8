/// Walks an R-tree from its root. Belongs to one thread.
final class ProofRTreeCheck {
  private static let deepest = 40
  private let tree: ProofRTree
  private let file: ProofFile
  private let finder: ProofRowFinder
  private let record = ProofRecord(columns: 2)
  private var found = ProofRTreeFindings()
  /// More nodes than the file has room for are a circle.
  private var left: Int

  private typealias Bounds = [Double]

  init(_ tree: ProofRTree, file: ProofFile) {
    (self.tree, self.file) = (tree, file)
    finder = ProofRowFinder(file, root: tree.nodes)
    left = Int(file.pageCount) * (file.usable / 16)
  }

  func run() throws -> ProofRTreeFindings {
    let root = try node(1)
    let depth = root.count >= 4 ? Int(root[0]) << 8 | Int(root[1]) : 0
    guard root.count >= 4, depth <= Self.deepest else { throw damage(1, "is damaged") }
    try walk(1, bytes: root, depth: depth, within: nil)
    return found
  }

  private func damage(_ node: Int64, _ what: String) -> StreamsError {
    file.damage("node \(node) of the R-tree \(tree.name) \(what)", page: tree.nodes)
  }

  private func node(_ number: Int64) throws -> [UInt8] {
    left -= 1
    guard left >= 0, let row = try finder.record(number) else {
      throw damage(number, left < 0 ? "is part of a circle" : "is missing")
    }
    return try row.withUnsafeBytes { bytes in
      guard record.decode(bytes, length: bytes.count), record.count == 2, record.types[1] >= 12,
        record.types[1] & 1 == 0
      else { throw damage(number, "is damaged") }
      return Array(UnsafeRawBufferPointer(start: record.body(1), count: record.length(1)))
    }
  }

  private func walk(_ number: Int64, bytes: [UInt8], depth: Int, within outer: Bounds?) throws {
    let size = 8 + 4 * tree.bounds
    guard bytes.count >= 4 else { throw damage(number, "is damaged") }
    let count = Int(bytes[2]) << 8 | Int(bytes[3])
    guard 4 + count * size <= bytes.count else { throw damage(number, "is too small for its cells") }
    for cell in 0..<count {
      let (key, bounds) = bytes.withUnsafeBytes { read($0.baseAddress! + 4 + cell * size) }
      if !Self.isRight(bounds, within: outer) { found.unbounded.add(number) }
      let pair = ProofHash.pair(key, number)
      if depth == 0 {
        (found.rows, found.rowSum) = (found.rows + 1, found.rowSum &+ pair)
      } else {
        (found.children, found.childSum) = (found.children + 1, found.childSum &+ pair)
        try walk(key, bytes: try node(key), depth: depth - 1, within: bounds)
      }
    }
  }

  private func read(_ cell: UnsafeRawPointer) -> (Int64, Bounds) {
    let bounds = (0..<tree.bounds).map { place in
      let bits = cell.proof32(8 + 4 * place)
      return tree.isInteger ? Double(Int32(bitPattern: bits)) : Double(Float(bitPattern: bits))
    }
    return (cell.proofInteger(8), bounds)
  }

  private static func isRight(_ bounds: Bounds, within outer: Bounds?) -> Bool {
    for place in stride(from: 0, to: bounds.count - 1, by: 2) {
      if !(bounds[place] <= bounds[place + 1]) { return false }
      if let outer, !(bounds[place] >= outer[place] && bounds[place + 1] <= outer[place + 1]) { return false }
    }
    return true
  }
}
