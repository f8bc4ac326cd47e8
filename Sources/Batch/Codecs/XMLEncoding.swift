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
    if let position = firstInvalid(data) ?? first([0], in: data) { return (position, "the file is not UTF-8") }
    if let declared = declared(data), !["utf-8", "utf8", "us-ascii"].contains(declared) {
      return (data.startIndex, "the file declares the encoding \(declared) instead of UTF-8")
    }
    for (text, what) in [("<!ENTITY", "entities"), ("<!ATTLIST", "attributes")] {
      if let position = first(Array(text.utf8), in: data) { return (position, "the XML declares \(what)") }
    }
    return crowded(data).map { ($0, "an element has more than \(mostAttributes) attributes") }
  }

  /// Where bytes are found first. Foundation's own search takes longer than all else that is done with a file.
  private static func first(_ sought: [UInt8], in data: Data) -> Data.Index? {
    data.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return nil }
      var position = 0
      while position + sought.count <= bytes.count,
        let found = memchr(base + position, Int32(sought[0]), bytes.count - position).map({
          UnsafeRawPointer($0) - base
        })
      {
        if found + sought.count <= bytes.count, memcmp(base + found, sought, sought.count) == 0 {
          return data.startIndex + found
        }
        position = found + 1
      }
      return nil
    }
  }

  /// The first element with too many attributes. They all stand before the next `<`, which no value can hold.
  private static func crowded(_ data: Data) -> Data.Index? {
    data.withUnsafeBytes { bytes in
      var (start, count) = (0, 0)
      for (position, byte) in bytes.enumerated() {
        if byte == UInt8(ascii: "<") { (start, count) = (position, 0) }
        guard byte == UInt8(ascii: "=") else { continue }
        count += 1
        if count > mostAttributes { return data.startIndex + start }
      }
      return nil
    }
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
