import Foundation

/// What is refused before a parser sees a file.
enum XMLEncoding {
  /// The parser compares each attribute of an element with all others.
  static let mostAttributes = 1_000

  /// The position and the kind of the first thing that no file of Xcode has; nil when there is none.
  ///
  /// Entities could grow without bound or name other files. They can only be searched for in a known encoding: in others,
  /// which the parser would find out by itself, the text `<!ENTITY` looks different.
  static func problem(of data: Data) -> (position: Data.Index, problem: String)? {
    if let position = firstInvalid(data) ?? data.firstIndex(of: 0) { return (position, "the file is not UTF-8") }
    if let declared = declared(data), !["utf-8", "utf8", "us-ascii"].contains(declared) {
      return (data.startIndex, "the file declares the encoding \(declared) instead of UTF-8")
    }
    for (text, what) in [("<!ENTITY", "entities"), ("<!ATTLIST", "attributes")] {
      if let range = data.range(of: Data(text.utf8)) { return (range.lowerBound, "the XML declares \(what)") }
    }
    return crowded(data).map { ($0, "an element has more than \(mostAttributes) attributes") }
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
    guard String(validating: data, as: UTF8.self) == nil else { return nil }
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
