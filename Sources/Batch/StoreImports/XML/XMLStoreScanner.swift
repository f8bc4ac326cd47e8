import CoreDataStore
import RunSupport
import Streams

/// Reads an XML store object by object, as the file has it (F.1): nothing is known of a model here.
final class XMLStoreScanner {
  /// An object that begins.
  struct Object {
    /// The entity's name in upper case.
    var type: String
    var id: Int64
    var line: Int
  }

  /// A property that begins.
  enum Property {
    /// Its name in lower case, and the type that the file says.
    case attribute(String, type: String, line: Int)
    case relationship(String, line: Int)
  }

  private enum State { case objects, properties, text, references(UInt8?), ended }

  let tags: XMLTags
  let header: XMLStoreHeader
  private var state = State.objects

  init(_ path: String, _ fileSystem: any FileSystem) throws {
    tags = XMLTags(try XMLBytes(path, fileSystem))
    header = try XMLStoreHeader(tags)
  }

  /// The next object; nil at the end of the store.
  func nextObject() throws -> Object? {
    while try nextProperty() != nil {}
    if case .ended = state { return nil }
    let tag = try tags.next()
    switch tag {
    case .start("object"): break
    case .end("database"):
      guard try tags.next() == nil else { throw tags.failure("something follows the end of the store") }
      state = .ended
      return nil
    case .start, .end, nil: throw tags.unexpected(tag, wanted: "<object> or </database>")
    }
    let line = tags.line
    let attributes = try tags.attributes()
    guard let type = attributes["type"], let text = attributes["id"] else {
      throw tags.failure("an object has no type, or no id", line: line)
    }
    guard text.hasPrefix("z"), let id = Int64(text.dropFirst()), id > 0, text == "z\(id)" else {
      throw tags.failure("the id \(text.prefix(40)) is no z with a number, as Core Data writes them", line: line)
    }
    if !tags.isEmpty { state = .properties }
    return Object(type: type, id: id, line: line)
  }

  /// The next property of the object at hand; nil at its end. What nobody asked for of the one before is passed over.
  func nextProperty() throws -> Property? {
    if case .text = state { try text { _ in } }
    if case .references = state { while try nextReference() != nil {} }
    guard case .properties = state else { return nil }
    let tag = try tags.next()
    let line = tags.line
    switch tag {
    case .start("attribute"):
      let attributes = try tags.attributes()
      guard let name = attributes["name"], let type = attributes["type"] else {
        throw tags.failure("an attribute has no name, or no type", line: line)
      }
      state = .text
      return .attribute(name, type: type, line: line)
    case .start("relationship"): return try relationship(line)
    case .end("object"):
      state = .objects
      return nil
    case .start, .end, nil: throw tags.unexpected(tag, wanted: "<attribute>, <relationship> or </object>")
    }
  }

  /// Hands on the text of the attribute at hand, as it stands in the file, in pieces.
  func text(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    try tags.text(of: "attribute", body)
    state = .properties
  }

  /// The list of a relationship may be long: it is not read before somebody asks for it.
  private func relationship(_ line: Int) throws -> Property {
    var name: String?
    var list: UInt8?
    while list == nil, let (key, quote) = try tags.nextAttribute() {
      if key == "idrefs" {
        list = quote
      } else {
        let value = try tags.value(quote)
        if key == "name" { name = value }
      }
    }
    guard let name else { throw tags.failure("a relationship has no name before its idrefs", line: line) }
    state = .references(list)
    return .relationship(name, line: line)
  }

  /// The next object to which the relationship at hand leads; nil at the end.
  func nextReference() throws -> Int64? {
    guard case .references(let quote) = state else { return nil }
    guard let quote else { return try endReferences() }
    try tags.skipBlanks()
    if try tags.bytes.peek() == quote {
      _ = try tags.bytes.next()
      _ = try tags.attributes()
      return try endReferences()
    }
    let line = tags.bytes.line
    guard try tags.need() == UInt8(ascii: "z") else { throw reference(line) }
    var id: Int64 = 0
    while let byte = try tags.bytes.peek(), byte != quote, !XMLTags.isBlank(byte) {
      guard let digit = Int64(exactly: Int(byte) - 0x30), 0...9 ~= digit else { throw reference(line) }
      let (tens, isTooLarge) = id.multipliedReportingOverflow(by: 10)
      let (sum, overflows) = tens.addingReportingOverflow(digit)
      guard !isTooLarge, !overflows else { throw reference(line) }
      id = sum
      _ = try tags.bytes.next()
    }
    if try tags.bytes.peek() == nil { _ = try tags.need() }
    guard id > 0 else { throw reference(line) }
    return id
  }

  private func reference(_ line: Int) -> BatchError {
    tags.failure("an id in idrefs is no z with a number, as Core Data writes them", line: line)
  }

  private func endReferences() throws -> Int64? {
    try tags.end("relationship")
    state = .properties
    return nil
  }
}
