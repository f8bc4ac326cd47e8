/// Looks at a text that comes in pieces: a character may begin in one and end in the next.
package struct TextPieces {
  private var rest: [UInt8] = []

  package init() {}

  package mutating func add(_ piece: UnsafeRawBufferPointer) -> TextCheck.Result {
    let bytes = rest + piece
    // What begins within the last three bytes may continue.
    var end = bytes.count
    for back in 1...3 where back <= bytes.count {
      let byte = bytes[bytes.count - back]
      guard byte >= 0xC0 else { continue }
      let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
      if length > back { end = bytes.count - back }
      break
    }
    rest = Array(bytes[end...])
    return bytes[..<end].withUnsafeBytes { TextCheck.check($0) }
  }

  /// Nothing may be left open.
  package var isWhole: Bool { rest.isEmpty }
}
