import Codecs
import Streams

/// Bytes of transformable and binary attributes as the JSON of what they hold.
///
/// The bytes are a stranger's: no class is made, size, depth and number of values are limited, rings are shown as
/// references, and what cannot be shown within the limits stays as bytes.
struct BlobText {
  /// Bytes of a value that are looked into at most.
  static let mostBytes = 512 << 10
  private static let greatestWeight = 8 << 20
  private static let mostValues = 1 << 16
  private static let mostText = 8 << 20
  private static let greatestDepth = 64

  /// What is larger than the limits, or damaged.
  private struct Unreadable: Error {}

  let decodings: Set<ExportDecoding>

  /// The JSON; nil for bytes that hold nothing of the kind.
  ///
  /// - Throws: an error for bytes that begin like something of the kind and cannot be read.
  func json(_ bytes: UnsafeRawBufferPointer) throws -> [UInt8]? {
    guard decodings.contains(.plist) || decodings.contains(.keyedArchiver), Self.isList(bytes) else { return nil }
    guard bytes.count <= Self.mostBytes else { throw Unreadable() }
    guard let list = try PropertyListFile.read(value: Array(bytes), greatestWeight: Self.greatestWeight) else {
      return nil
    }
    let text = ExportText(format: .jsonLines, sink: { _ in })
    var values = 0
    if decodings.contains(.keyedArchiver), let archive = try? KeyedArchive(list) {
      text.append("{\"keyedArchive\":")
      if let root = archive.root { try write(root, inside: [], to: text, &values) } else { text.appendNull() }
    } else if decodings.contains(.plist) {
      text.append("{\"plist\":")
      try write(list, depth: 0, to: text, &values)
    } else {
      return nil
    }
    text.append("}")
    return text.take()
  }

  private static func isList(_ bytes: UnsafeRawBufferPointer) -> Bool {
    ["bplist0", "<?xml", "<plist"].contains { bytes.starts(with: $0.utf8) }
  }

  private func count(_ depth: Int, in text: ExportText, _ values: inout Int) throws {
    values += 1
    guard values <= Self.mostValues, depth <= Self.greatestDepth, text.count <= Self.mostText else {
      throw Unreadable()
    }
  }

  private func write(_ value: PropertyListValue, depth: Int, to text: ExportText, _ values: inout Int) throws {
    try count(depth, in: text, &values)
    switch value {
    case .array(let members), .set(let members), .orderedSet(let members):
      try list(members, to: text, &values) { try write($0, depth: depth + 1, to: text, &$1) }
    case .dictionary(let entries):
      let sorted = entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      try dictionary(sorted.map { ($0.key, $0.value) }, to: text, &values) {
        try write($0, depth: depth + 1, to: text, &$1)
      }
    case .uid(let number):
      text.append("{\"CF$UID\":")
      text.append(Int64(number))
      text.append("}")
    case .string, .integer, .unsigned, .wide, .real, .float, .boolean, .date, .data, .null: text.append(scalar: value)
    }
  }

  /// `inside` are the numbers of the objects around it.
  private func write(_ object: KeyedObject, inside: [Int], to text: ExportText, _ values: inout Int) throws {
    try count(inside.count, in: text, &values)
    if let number = object.number, inside.contains(number) {
      text.append("{\"reference\":")
      text.append(Int64(number))
      return text.append("}")
    }
    // A value inside another object has no number; it deepens the tree all the same.
    let inside = inside + [object.number ?? -1]
    if let value = object.plainValue { return text.append(scalar: value) }
    if let entries = object.dictionary { return try write(entries, inside: inside, to: text, &values) }
    if let members = object.array {
      return try list(members, to: text, &values) { try write($0, inside: inside, to: text, &$1) }
    }
    try writeFields(object, inside: inside, to: text, &values)
  }

  /// A dictionary whose keys are no texts becomes a list of pairs.
  private func write(
    _ entries: [(key: KeyedObject, value: KeyedObject)], inside: [Int], to text: ExportText, _ values: inout Int
  ) throws {
    let names = entries.compactMap(\.key.string)
    if names.count == entries.count, Set(names).count == names.count {
      return try dictionary(zip(names, entries.map(\.value)).map { ($0, $1) }, to: text, &values) {
        try write($0, inside: inside, to: text, &$1)
      }
    }
    try list(entries, to: text, &values) { entry, values in
      text.append("[")
      try write(entry.key, inside: inside, to: text, &values)
      text.append(",")
      try write(entry.value, inside: inside, to: text, &values)
      text.append("]")
    }
  }

  /// An object of any other class: its name and what it archived.
  private func writeFields(
    _ object: KeyedObject, inside: [Int], to text: ExportText, _ values: inout Int
  ) throws {
    text.append("{\"class\":")
    if let name = object.className { text.append(scalar: .string(name)) } else { text.appendNull() }
    text.append(",\"fields\":")
    let names = object.keys.subtracting(["$class"]).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    try dictionary(names.map { ($0, object[$0]) }, to: text, &values) { field, values in
      if let field { try write(field, inside: inside, to: text, &values) } else { text.appendNull() }
    }
    text.append("}")
  }

  private func list<Member>(
    _ members: [Member], to text: ExportText, _ values: inout Int, body: (Member, inout Int) throws -> Void
  ) rethrows {
    text.append("[")
    for (place, member) in members.enumerated() {
      if place > 0 { text.append(",") }
      try body(member, &values)
    }
    text.append("]")
  }

  private func dictionary<Member>(
    _ entries: [(String, Member)], to text: ExportText, _ values: inout Int,
    body: (Member, inout Int) throws -> Void
  ) rethrows {
    text.append("{")
    for (place, entry) in entries.enumerated() {
      if place > 0 { text.append(",") }
      text.append(scalar: .string(entry.0))
      text.append(":")
      try body(entry.1, &values)
    }
    text.append("}")
  }
}

extension KeyedObject {
  /// What has one value and no members: texts, numbers, dates, bytes, UUIDs, URLs, also inside the classes for them.
  fileprivate var plainValue: PropertyListValue? {
    switch value {
    case .string, .integer, .unsigned, .wide, .real, .float, .boolean, .date, .data, .null: return value
    case .array, .set, .orderedSet, .uid: return nil
    case .dictionary: break
    }
    if let string { return .string(string) }
    if let date { return .date(date) }
    if let data { return .data(data) }
    if let bytes = self["NS.uuidbytes"]?.data, bytes.count == 16 { return .string(ExportText.uuid(bytes)) }
    if className == "NSURL", self["NS.base"] == nil, let url = self["NS.relative"]?.string { return .string(url) }
    return className == "NSNull" ? .null : nil
  }
}

extension ExportText {
  /// A value of a property list that has no members, as JSON.
  fileprivate func append(scalar value: PropertyListValue) {
    switch value {
    case .integer(let number): append(number)
    case .real(let number): append(number)
    case .boolean(let flag): append(flag ? "true" : "false")
    case .null: append("null")
    case .unsigned, .wide: append(Array((value.scalarText ?? "").utf8))
    case .float(let number) where number.isFinite: append(Array(number.description.utf8))
    case .data(let bytes): bytes.withUnsafeBytes { appendBase64($0) }
    case .string, .date, .float, .uid, .array, .dictionary, .set, .orderedSet:
      var text = value.scalarText ?? ""
      text.withUTF8 { appendText(UnsafeRawBufferPointer($0)) }
    }
  }

  fileprivate static func uuid(_ bytes: [UInt8]) -> String {
    let text = ExportText(format: .csv, sink: { _ in })
    bytes.withUnsafeBytes { text.appendUUID($0) }
    return String(decoding: text.take(), as: UTF8.self)
  }
}
