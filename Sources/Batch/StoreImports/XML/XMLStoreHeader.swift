import Codecs
import CoreDataStore
import Foundation
import RunSupport

/// What an XML store says of itself before its first object (F.2).
struct XMLStoreHeader {
  private static let largestMetadata = 4 << 20

  private(set) var uuid = ""
  /// The largest id that was given out.
  private(set) var nextObjectID: Int64?
  /// The property list of the metadata; empty in stores of Mac OS X 10.4.
  private(set) var entries: [String: PropertyListValue] = [:]

  /// Reads up to the first object.
  init(_ tags: XMLTags) throws {
    if try tags.bytes.peek() == 0xEF { for _ in 0..<3 { _ = try tags.bytes.next() } }
    for name in ["database", "databaseInfo"] {
      let tag = try tags.next(inProlog: name == "database")
      guard tag == .start(name) else { throw tags.unexpected(tag, wanted: "<\(name)>") }
      _ = try tags.attributes()
      guard !tags.isEmpty else { throw tags.failure("<\(name)> is empty: no model can be found for such a store") }
    }
    while true {
      let tag = try tags.next()
      switch tag {
      case .end("databaseInfo"):
        try check(tags)
        return
      case .start("metadata"): try readMetadata(tags)
      case .start(let name):
        let text = try Self.short(tags, name)
        if name == "UUID" { uuid = text }
        if name == "nextObjectID" { nextObjectID = Int64(text) }
      case .end, nil: throw tags.unexpected(tag, wanted: "</databaseInfo>")
      }
    }
  }

  private func check(_ tags: XMLTags) throws {
    guard UUID(uuidString: uuid) != nil else { throw tags.failure("the store has no UUID, or one that is none") }
  }

  private static func short(_ tags: XMLTags, _ name: String) throws -> String {
    _ = try tags.attributes()
    var text: [UInt8] = []
    try tags.text(of: name) { piece in
      guard text.count + piece.count <= XMLTags.longestName else {
        throw tags.failure("the text of \(name) is too long")
      }
      text += piece
    }
    return try XMLStoreText.text(text) { tags.failure($0) }.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// The list is read by the reader of property lists, with as many empty lines before it, so that errors name the
  /// line of the file.
  private mutating func readMetadata(_ tags: XMLTags) throws {
    _ = try tags.attributes()
    guard !tags.isEmpty else { return }
    let (line, end) = (tags.bytes.line, Array("</metadata>".utf8))
    var text: [UInt8] = []
    repeat {
      text.append(try tags.need())
      guard text.count < Self.largestMetadata else { throw tags.failure("the metadata do not end", line: line) }
    } while text.last != end.last || !text.suffix(end.count).elementsEqual(end)
    text.removeLast(end.count)
    guard let first = text.firstIndex(where: { !XMLTags.isBlank($0) }) else { return }
    let list =
      Array(repeating: 0x0A, count: min(line - 1, 1 << 16)) + Array(text[..<first].filter { $0 == 0x0A })
      + text[first...]
    do {
      guard case .dictionary(let found) = try PropertyListFile.read(xml: list, path: tags.bytes.path) else {
        throw tags.failure("the metadata are no dictionary", line: line)
      }
      entries = found
    } catch var error as BatchError {
      (error.code, error.message) = (.badStore, "the metadata: \(error.message)")
      error.hint = "Take another copy of the file, or restore a backup"
      throw error
    }
  }
}
