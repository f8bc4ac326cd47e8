#if SwiftData
  import SwiftSyntax

  /// Where the lines of a file begin.
  struct LineTable {
    private let starts: [Int]

    init(_ bytes: [UInt8]) {
      var starts = [0]
      for (place, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") { starts.append(place + 1) }
      self.starts = starts
    }

    /// The line, from 1, in which the node begins.
    func line(at node: some SyntaxProtocol) -> Int {
      let offset = node.positionAfterSkippingLeadingTrivia.utf8Offset
      var (low, high) = (0, starts.count)
      while high - low > 1 {
        let middle = (low + high) / 2
        if starts[middle] <= offset { low = middle } else { high = middle }
      }
      return low + 1
    }
  }
#endif
