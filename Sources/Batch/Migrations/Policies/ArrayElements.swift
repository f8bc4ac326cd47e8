import Codecs
import Streams

/// The elements of an array that a transformable attribute holds: a keyed archive or a property list, read as data. No
/// class is made, and size and depth are limited by the reader of property lists.
enum ArrayElements {
  /// What stands against it; never with a value.
  struct Damage: Error {
    let description: String
  }

  /// The most elements of one array.
  private static let most = 100_000

  /// The elements in order, as values: texts, numbers, dates as seconds since 2001, bytes, UUIDs. NULL has none. Throws
  /// ``Damage``.
  static func values(_ value: Value, isExternal: Bool) throws -> [Value] {
    if value == .null { return [] }
    guard case .blob(var bytes) = value else { throw Damage(description: "holds no archive") }
    if isExternal {
      guard bytes.first == 1 else { throw Damage(description: "lies outside of the store, and is not read") }
      bytes.removeFirst()
    }
    let members: [Value?]
    if let archive = try? KeyedArchive(bytes) {
      guard let root = archive.root else { return [] }
      guard root.memberCount <= most else { throw Damage(description: "has more than 100,000 elements") }
      guard root.dictionary == nil, let array = root.array else { throw Damage(description: "holds no array") }
      members = array.map(element)
    } else {
      guard case .array(let array)? = try? PropertyListReader.read(bytes) else {
        throw Damage(description: "is neither a keyed archive nor a property list of an array")
      }
      guard array.count <= most else { throw Damage(description: "has more than 100,000 elements") }
      members = array.map(plain)
    }
    return try members.map { member in
      guard let member else {
        throw Damage(description: "has an element that is no text, number, date, UUID and no bytes")
      }
      return member
    }
  }

  private static func element(_ object: KeyedObject) -> Value? {
    if let text = object.string { return .text(text) }
    if let seconds = object.date { return .real(seconds) }
    if let uuid = object["NS.uuidbytes"]?.data, uuid.count == 16 { return .blob(uuid) }
    if let bytes = object.data { return .blob(bytes) }
    if let integer = object.integer { return .integer(integer) }
    return object.real.flatMap { $0.isFinite ? .real($0) : nil }
  }

  private static func plain(_ value: PropertyListValue) -> Value? {
    switch value {
    case .string(let text): .text(text)
    case .integer(let integer): .integer(integer)
    case .boolean(let flag): .integer(flag ? 1 : 0)
    case .real(let double): double.isFinite ? .real(double) : nil
    case .float(let float): float.isFinite ? .real(Double(float)) : nil
    case .date(let seconds): .real(seconds)
    case .data(let bytes): .blob(bytes)
    default: nil
    }
  }
}
