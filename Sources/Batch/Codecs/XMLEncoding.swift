import Foundation

/// What is refused before a parser sees a file.
package enum XMLEncoding {
  /// The parser compares each attribute of an element with all others.
  static let mostAttributes = 1_000

  /// The position and the kind of the first thing that no file of Xcode has; nil when there is none.
  ///
  /// Entities could grow without bound or name other files. They can only be searched for in a known encoding: in
  /// others, which the parser would find out by itself, the text `<!ENTITY` looks different.
  package static func problem(of data: Data) -> (position: Data.Index, problem: String)? {
    if let position = firstInvalid(data) ?? firstZero(data) { return (position, "the file is not UTF-8") }
    if let declared = declared(data), !["utf-8", "utf8", "us-ascii"].contains(declared) {
      return (data.startIndex, "the file declares the encoding \(declared) instead of UTF-8")
    }
    return refusedTag(data)
  }

  /// Where a byte is found first. Foundation's own search takes longer than all else that is done with a file.
  private static func next(_ byte: Unicode.Scalar, in bytes: Slice<UnsafeRawBufferPointer>) -> Int? {
    guard let base = bytes.base.baseAddress else { return nil }
    return memchr(base + bytes.startIndex, Int32(byte.value), bytes.count).map { UnsafeRawPointer($0) - base }
  }

  private static func begins(_ tag: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
    guard let base = tag.baseAddress, tag.count >= text.utf8CodeUnitCount else { return false }
    return memcmp(base, text.utf8Start, text.utf8CodeUnitCount) == 0
  }

  /// The first tag that declares entities or attributes, or has too many attributes. These all stand before the next
  /// `<`, which no value can hold, and take two bytes each at the least.
  private static func refusedTag(_ data: Data) -> (position: Data.Index, problem: String)? {
    data.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while let start = next("<", in: rest) {
        let end = next("<", in: bytes[(start + 1)...]) ?? bytes.count
        let tag = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        for (text, what) in [("<!ENTITY" as StaticString, "entities"), ("<!ATTLIST", "attributes")]
        where begins(tag, text) {
          return (data.startIndex + start, "the XML declares \(what)")
        }
        if tag.count > 2 * mostAttributes, tag.count(where: { $0 == UInt8(ascii: "=") }) > mostAttributes {
          return (data.startIndex + start, "an element has more than \(mostAttributes) attributes")
        }
        rest = bytes[end...]
      }
      return nil
    }
  }

  private static func firstZero(_ data: Data) -> Data.Index? {
    data.withUnsafeBytes { next("\0", in: $0[...]).map { data.startIndex + $0 } }
  }

  private static func firstInvalid(_ data: Data) -> Data.Index? {
    guard data.withUnsafeBytes({ String(validating: $0, as: UTF8.self) }) == nil else { return nil }
    var decoder = UTF8()
    var bytes = data.makeIterator()
    var position = data.startIndex
    while case .scalarValue(let scalar) = decoder.decode(&bytes) { position += UTF8.width(scalar) }
    return min(position, data.endIndex)
  }

  /// The encoding that the declaration at the beginning names, in lower case.
  private static func declared(_ data: Data) -> String? {
    let text = String(decoding: data.prefix(500), as: UTF8.self)
    guard let start = text.range(of: "<?xml"), let end = text.range(of: "?>", range: start.upperBound..<text.endIndex),
      let name = text.range(of: "encoding", range: start.upperBound..<end.lowerBound)
    else { return nil }
    let value = text[name.upperBound..<end.lowerBound].drop { " \t\r\n=".contains($0) }
    guard let quote = value.first else { return nil }
    return value.dropFirst().prefix { $0 != quote }.lowercased()
  }
}
