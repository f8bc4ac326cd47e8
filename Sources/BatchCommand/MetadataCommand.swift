import ArgumentParser
import Batch
import Foundation
import Streams

struct MetadataCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "metadata", abstract: "Prints a store's metadata, or changes an entry of it in place.",
    discussion: """
      Without a verb all entries are printed. `get KEY` prints one value, data in base64. `set KEY VALUE` and `remove KEY` \
      change the store in one transaction; no other program may have it open. All other entries and the store's UUID stay as they \
      are. Put two hyphens before a negative number: `set KEY --type integer -- -5`.

      Dates are ISO 8601 in UTC, as 2025-01-31T12:00:00Z. Core Data's own entries (NS…) tie the store to its model. To change them, \
      add --force.
      """)

  enum Verb: String, ExpressibleByArgument, CaseIterable {
    case get, set, remove
  }

  @Argument(help: .store, completion: .store) var store: String
  @Argument(help: "What to do: get, set or remove.") var verb: Verb?
  @Argument(help: "The entry's key.") var key: String?
  @Argument(help: "Its new value.") var value: String?
  @Option(name: .long, help: ArgumentHelp("The type of the new value.", valueName: "type")) var type = PropertyListValue
    .Scalar
    .string
  @Flag(name: .long, help: "Change Core Data's own entries, too.") var force = false
  @Flag(name: .long, help: .json) var json = false

  var changed: String? { verb == .set || verb == .remove ? store : nil }

  func validate() throws {
    guard verb == nil || key != nil else { throw ValidationError("Give the key of the entry") }
    guard (verb == .set) == (value != nil) else {
      throw ValidationError(verb == .set ? "Give the new value behind the key" : "Only set takes a value")
    }
  }

  func run() throws {
    switch (verb, key) {
    case (.set, let key?): try change(key, to: try newValue(key))
    case (.remove, let key?): try change(key, to: nil)
    case (_, let key): try print(key)
    }
  }

  private func print(_ key: String?) throws {
    let reader = try SourceStore.open(store, LocalFileSystem(), locking: .shared)
    defer { reader.close() }
    Console.tellRecovery(reader)
    guard let key else {
      return Console.print(try MetadataText(reader.metadata, path: store).all(json: json))
    }
    guard let value = reader.metadata.entries[key] else { throw unknown(key, reader.metadata.entries) }
    Console.print(try MetadataText.one(key, value, json: json))
  }

  private func unknown(_ key: String, _ entries: [String: PropertyListValue]) -> BatchError {
    BatchError(
      .failed, "the metadata has no entry \(key)",
      hint: "Its entries are \(entries.keys.sorted().joined(separator: ", "))",
      path: store)
  }

  private func newValue(_ key: String) throws -> PropertyListValue {
    guard let value, let found = PropertyListValue(value, as: type) else {
      throw BatchError(
        .refused, "the value is no \(type.rawValue)", hint: "Write \(type.form), or give another --type", path: store)
    }
    return found
  }

  private func change(_ key: String, to new: PropertyListValue?) throws {
    guard force || !(key.hasPrefix("NS") || key.hasPrefix("_NS")) else {
      throw BatchError(
        .refused, "\(key) is an entry of Core Data, which ties the store to its model",
        hint: "Use --force if you mean it", path: store)
    }
    let job = try MigrationJob(policies: Program.policies).status(store)
    guard job.state == .none || force else {
      throw BatchError(
        .refused, "a migration of this store is \(job.state.rawValue), and could not go on after the change",
        hint: "Finish it with resume first, or use --force", path: store)
    }
    // Finds what is no store before SQLite opens it.
    let reader = try SourceStore.open(store, LocalFileSystem(), locking: .shared)
    reader.close()
    guard !reader.isRecovered else {
      throw BatchError(
        .refused, "the store has the rollback journal of an unfinished change",
        hint: "Open the store once with its application, so that it is recovered", effect: .nothingWritten, path: store)
    }
    var old: PropertyListValue?
    _ = try MetadataEditor.change(store) { entries in
      old = entries[key]
      guard old != nil || new != nil else { throw unknown(key, entries) }
      var entries = entries
      entries[key] = new
      return entries
    }
    Console.print(try MetadataText.change(key, from: old, to: new, path: store, json: json))
  }
}

extension PropertyListValue.Scalar: ExpressibleByArgument {}

/// Metadata as people and scripts read it.
struct MetadataText {
  private let metadata: StoreMetadata
  private let path: String

  init(_ metadata: StoreMetadata, path: String) {
    self.metadata = metadata
    self.path = path
  }

  private struct All: Encodable {
    var uuid: String
    var entries: [String: Typed]
  }
  private struct One: Encodable {
    var key: String
    var entry: Typed
  }
  private struct Change: Encodable {
    var key: String
    var old: Typed?
    var new: Typed?
  }

  func all(json: Bool) throws -> String {
    if json {
      return try JSONOutput.document(All(uuid: metadata.uuid, entries: metadata.entries.mapValues(Typed.init)))
    }
    let lines = metadata.entries.keys.sorted().flatMap {
      Self.lines($0, metadata.entries[$0] ?? .string(""), indent: "  ")
    }
    return (["\(path)", "  UUID: \(metadata.uuid)"] + lines).joined(separator: "\n")
  }

  static func one(_ key: String, _ value: PropertyListValue, json: Bool) throws -> String {
    if json { return try JSONOutput.document(One(key: key, entry: Typed(value: value))) }
    if let text = value.scalarText { return text }
    return lines(key, value, indent: "").dropFirst().map { String($0.dropFirst(2)) }.joined(separator: "\n")
  }

  static func change(
    _ key: String, from old: PropertyListValue?, to new: PropertyListValue?, path: String, json: Bool
  ) throws -> String {
    if json { return try JSONOutput.document(Change(key: key, old: old.map(Typed.init), new: new.map(Typed.init))) }
    let before = old.map(short) ?? "nothing"
    return "\(path): \(key) is \(new.map(short) ?? "removed") (before: \(before))"
  }

  private static func lines(_ key: String, _ value: PropertyListValue, indent: String) -> [String] {
    let head = "\(indent)\(key): \(short(value))"
    switch value {
    case .array(let elements):
      return [head] + elements.enumerated().flatMap { lines("\($0)", $1, indent: indent + "  ") }
    case .dictionary(let entries):
      return [head] + entries.keys.sorted().flatMap { lines($0, entries[$0] ?? .string(""), indent: indent + "  ") }
    default: return [head]
    }
  }

  /// Texts in quotes, so that a number and a text that looks like one differ; long data is cut.
  private static func short(_ value: PropertyListValue) -> String {
    switch value {
    case .string(let text): return "\"\(text)\""
    case .array(let elements): return "array of \(elements.count)"
    case .dictionary(let entries): return "dictionary of \(entries.count)"
    case .data(let bytes):
      let shown = Data(bytes.prefix(48)).base64EncodedString()
      return "data \(shown)\(bytes.count > 48 ? "… (\(bytes.count) bytes)" : "")"
    case .real, .integer, .unsigned: return value.scalarText ?? ""
    default: return "\(value.typeName) \(value.scalarText ?? "")"
    }
  }

  /// A value with its type: `{"type":"integer","value":7}`. Data is base64, dates are ISO 8601.
  private struct Typed: Encodable {
    let value: PropertyListValue

    private enum Key: String, CodingKey { case type, value }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(value.typeName, forKey: .type)
      switch value {
      case .integer(let number): try container.encode(number, forKey: .value)
      case .unsigned(let number): try container.encode(number, forKey: .value)
      case .boolean(let flag): try container.encode(flag, forKey: .value)
      case .real(let number) where number.isFinite: try container.encode(number, forKey: .value)
      case .array(let elements): try container.encode(elements.map(Typed.init), forKey: .value)
      case .dictionary(let entries): try container.encode(entries.mapValues(Typed.init), forKey: .value)
      default: try container.encode(value.scalarText, forKey: .value)
      }
    }
  }
}
