import Codecs
import Foundation
import Synchronization

/// The entities of a bundle's versions, by their XML: most versions repeat most entities of the one before, letter by
/// letter, and each text is read once. Equal entities share their memory.
final class EntityTexts: Sendable {
  /// What the text of an entity says.
  struct Parsed: Sendable {
    var entity: EntityDescription
    /// Elements in it that are not known, with the names around them.
    var unknownElements: [String]
    /// How many elements it has, itself included.
    var count: Int
  }

  /// A text as a key. Arrays of bytes are hashed byte by byte.
  private struct Text: Hashable {
    let bytes: [UInt8]

    func hash(into hasher: inout Hasher) { bytes.withUnsafeBytes { hasher.combine(bytes: $0) } }
  }

  private let known = Mutex<[Text: Parsed]>([:])

  /// A file without its entities: each is an empty element instead, with its place among `entities`.
  struct Outline {
    var data: Data
    var entities: [Parsed]
  }

  /// Reads the entities of a file; nil if it has to be read as a whole, to find its faults too.
  func outline(of data: Data, path: String) -> Outline? {
    guard XMLEncoding.problem(of: data) == nil else { return nil }
    return data.withUnsafeBytes { bytes -> Outline? in
      var finder = EntityTextFinder(bytes)
      guard let ranges = finder.find() else { return nil }
      var (outline, end) = (Outline(data: Data(), entities: []), 0)
      for range in ranges {
        guard let parsed = try? entity(Array(bytes[range]), path: path) else { return nil }
        outline.data += bytes[end..<range.lowerBound]
        outline.data += Data("<entity place=\"\(outline.entities.count)\"/>".utf8)
        outline.entities.append(parsed)
        end = range.upperBound
      }
      outline.data += bytes[end...]
      return outline
    }
  }

  private func entity(_ bytes: [UInt8], path: String) throws -> Parsed? {
    let text = Text(bytes: bytes)
    if let parsed = known.withLock({ $0[text] }) { return parsed }
    let whole = Data(Array("<model>".utf8) + bytes + Array("</model>".utf8))
    guard let parsed = try ModelXMLReader.readEntity(whole, path: path) else { return nil }
    known.withLock { $0[text] = parsed }
    return parsed
  }
}

/// Finds where the entities of a model file are.
///
/// In XML without comments, declarations and further instructions, `<` begins a tag wherever it stands. What is no XML
/// at all is found out when the outline and the entities are read.
struct EntityTextFinder {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// The entities' ranges in order; nil if the file is not that simple.
  mutating func find() -> [Range<Int>]? {
    var found: [Range<Int>] = []
    while let start = next(UInt8(ascii: "<")) {
      position = start + 1
      guard position < bytes.count else { return nil }
      switch bytes[position] {
      case UInt8(ascii: "!"): return nil
      case UInt8(ascii: "?"): guard start == 0 else { return nil }
      default:
        guard isTag("entity", at: position) else { continue }
        guard let end = end(of: start) else { return nil }
        found.append(start..<end)
        position = end
      }
    }
    return found
  }

  /// Where the entity that begins here ends; nil if it does not, or holds another one.
  private mutating func end(of start: Int) -> Int? {
    guard let close = tagEnd(start) else { return nil }
    position = close + 1
    if bytes[close - 1] == UInt8(ascii: "/") { return position }
    while let tag = next(UInt8(ascii: "<")) {
      position = tag + 1
      if isTag("entity", at: position) || position < bytes.count && "!?".utf8.contains(bytes[position]) { return nil }
      if isTag("/entity", at: position) { return tagEnd(tag).map { $0 + 1 } }
    }
    return nil
  }

  /// Where the `>` of a tag is; those in values of attributes do not count.
  private func tagEnd(_ start: Int) -> Int? {
    var quote: UInt8?
    for place in start..<bytes.count {
      let byte = bytes[place]
      if let open = quote {
        if byte == open { quote = nil }
      } else if byte == UInt8(ascii: ">") {
        return place
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      }
    }
    return nil
  }

  private func isTag(_ name: StaticString, at place: Int) -> Bool {
    let end = place + name.utf8CodeUnitCount
    guard end < bytes.count,
      memcmp(bytes.baseAddress.unsafelyUnwrapped + place, name.utf8Start, name.utf8CodeUnitCount) == 0
    else { return false }
    return " \t\r\n/>".utf8.contains(bytes[end])
  }

  private func next(_ byte: UInt8) -> Int? {
    guard let base = bytes.baseAddress, position < bytes.count else { return nil }
    return memchr(base + position, Int32(byte), bytes.count - position).map { UnsafeRawPointer($0) - base }
  }
}
