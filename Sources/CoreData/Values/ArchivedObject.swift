import Codecs
import Foundation

/// Values of transformable attributes: what archives of texts, numbers, dates, bytes and collections of them hold.
/// Nothing else is made: an archive cannot name a class that then runs.
enum ArchivedObject {
  private static let greatestDepth = 32

  static func object(_ bytes: [UInt8]) throws -> Any? {
    guard let root = try? KeyedArchive(bytes).root else {
      throw Misfit("is transformable, and its value is no keyed archive: let the mapping copy it")
    }
    return try value(root, depth: 0)
  }

  private static func value(_ object: KeyedObject, depth: Int) throws -> Any? {
    guard depth < greatestDepth else { throw Misfit("is transformable, and nested too deeply") }
    if let text = object.string { return text }
    if let date = object.date { return Date(timeIntervalSinceReferenceDate: date) }
    if let bytes = object.data { return Data(bytes) }
    if let number = object.integer { return NSNumber(value: number) }
    if let number = object.real { return NSNumber(value: number) }
    switch object.className {
    case "NSArray", "NSMutableArray": return try members(object, depth)
    case "NSSet", "NSMutableSet": return NSSet(array: try members(object, depth))
    case "NSDictionary", "NSMutableDictionary":
      var found: [String: Any] = [:]
      for (key, entry) in object.dictionary ?? [] {
        guard let key = key.string else { throw Misfit("is a dictionary with keys that are no texts") }
        found[key] = try value(entry, depth: depth + 1)
      }
      return found
    case let name:
      throw Misfit("holds an archived \(name ?? "object"), which is not read here: let the mapping copy it")
    }
  }

  private static func members(_ object: KeyedObject, _ depth: Int) throws -> [Any] {
    try (object.array ?? []).compactMap { try value($0, depth: depth + 1) }
  }

  /// The archive of an object that Foundation can write.
  static func bytes(_ object: Any) throws -> [UInt8] {
    [UInt8](try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false))
  }
}
