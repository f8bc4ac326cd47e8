import Foundation
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import RunSupport

@Suite("Locks of versions")
struct SchemaLockTests {
  /// A model with everything that hashes hold.
  private static func model(_ name: String = "1.0.0", rating: AttributeType = .integer64) -> ManagedObjectModel {
    var book = EntityDescription(name: "Book", superentity: "Thing")
    var place = AttributeDescription(name: "place", type: .composite)
    place.elements = [
      AttributeDescription(name: "y", type: .double, isOptional: false), AttributeDescription(name: "x", type: .double),
    ]
    var count = AttributeDescription(name: "count", type: .integer32)
    (count.derivationExpression, count.derivationFilter) = ("tags.@count", "a == \"b\"")
    var cover = AttributeDescription(name: "cover", type: .binaryData)
    (cover.allowsExternalBinaryDataStorage, cover.preservesValueInHistoryOnDeletion) = (true, true)
    (cover.isReadOnly, cover.versionHashModifier, cover.renamingIdentifier) = (true, "1: {\n", "image")
    var note = AttributeDescription(name: "note", type: .string)
    note.isTransient = true
    book.attributes = [
      cover, AttributeDescription(name: "rating", type: rating, isOptional: false), place, count, note,
    ]
    var tags = RelationshipDescription.toMany("tags", "Tag", inverse: "book", isOrdered: true)
    tags.maxCount = 5
    book.relationships = [tags, .toOne("next", "Book", inverse: "next")]
    book.uniquenessConstraints = [["rating"], ["cover", "rating"]]
    book.versionHashModifier = "true"
    let tag = EntityDescription(name: "Tag", relationships: [.toOne("book", "Book", inverse: "tags")])
    return ManagedObjectModel(name: name, entities: [EntityDescription(name: "Thing", isAbstract: true), book, tag])
  }

  @Test("What is read is what was written, with the hashes and checksums of the models, sorted and a property a line")
  func roundTrip() throws {
    let models = [Self.model("10.0.0"), Self.model("2.0.0", rating: .double)]
    let lock = SchemaLock(models.map(SchemaLock.Version.init))
    let text = try LockWriter(lock).text()
    let read = try LockReader.parse(text, path: "schema.lock")
    #expect(read == lock && read.versions.map(\.name) == ["2.0.0", "10.0.0"])
    for model in models {
      let found = try #require(read.version(named: model.name))
      #expect(found.checksum == model.versionChecksum && found.model.versionHashes == model.versionHashes)
    }
    #expect(text.contains("\n          rating: { type: integer64 }\n"))
    #expect(text.contains("\n          tags: { toMany: Tag, max: 5, ordered: true, optional: true, inverse: book }\n"))
    #expect(!text.contains("note") && text.hasPrefix("# "))
    #expect(try LockWriter(read).text() == text)
  }

  @Test("An entity that is as before is said once; what refers to nothing, and endless references, are refused")
  func references() throws {
    let lock = SchemaLock([
      .init(Self.model("1.0.0")), .init(Self.model("2.0.0", rating: .double)), .init(Self.model("3.0.0")),
    ])
    let text = try LockWriter(lock).text()
    #expect(text.components(separatedBy: "as: \"1.0.0\"").count == 6 && !text.contains("as: \"2.0.0\""), "\(text)")
    #expect(try LockReader.parse(text, path: nil) == lock)
    for (part, other) in [
      ("as: \"1.0.0\"", "as: \"3.0.0\""), ("as: \"1.0.0\"", "as: \"1.0.0\"\n        abstract: true"),
    ] {
      let error = #expect(throws: BatchError.self) {
        try LockReader.parse(text.replacing(part, with: other, maxReplacements: 1), path: "schema.lock")
      }
      #expect(error?.message.contains("before this one says what") == true, "\(error!)")
    }
    // What is only referred to counts, too.
    let count = lock.versions[0].model.entities.reduce(0) { $0 + $1.attributes.count + $1.relationships.count }
    #expect(try LockReader.parse(text, path: nil, mostProperties: 3 * count) == lock)
    let error = #expect(throws: BatchError.self) {
      try LockReader.parse(text, path: nil, mostProperties: 3 * count - 1)
    }
    #expect(error?.message.contains("the lock has more than \(3 * count - 1) properties") == true, "\(error!)")
  }

  @Test("Models of every kind come back with their hashes")
  func randomModels() throws {
    var locked = 0
    for seed in UInt64(0)..<300 {
      var random = RandomModel(seed: seed)
      let model = random.model()
      // Names that are there twice cannot be said, and that is an error.
      guard let text = try? LockWriter(SchemaLock([.init(model)])).text() else { continue }
      #expect(try LockReader.parse(text, path: nil).versions.map(\.model.versionHashes) == [model.versionHashes])
      locked += 1
    }
    #expect(locked > 250)
  }

  @Test("Mutated locks end in a lock or in an error with its file; none says other hashes than it shows")
  func mutated() throws {
    let text = Array(try LockWriter(SchemaLock([.init(Self.model())])).text().utf8)
    var random = SeededRandom(26)
    let parts = Array("{}[]:,\"\\\n -&*#!|>%@`'~0e".utf8)
    for _ in 0..<2000 {
      var bytes = text
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[place] = parts.randomElement(using: &random)!
        case 1: bytes.remove(at: place)
        case 2:
          bytes.insert(contentsOf: bytes[place...].prefix(40), at: Int.random(in: 0..<bytes.count, using: &random))
        default: bytes[place] = UInt8.random(in: 32..<127, using: &random)
        }
      }
      do {
        let read = try LockReader.parse(String(decoding: bytes, as: UTF8.self), path: "schema.lock")
        for version in read.versions { #expect(version.checksum == version.model.versionChecksum) }
      } catch let error as BatchError {
        #expect(error.code == .badModel && error.path == "schema.lock" && error.hint != nil, "\(error)")
      }
    }
  }

  @Test(
    "What is wrong is named with its line",
    arguments: [
      ("hash: \"", "hash: \"A", "does not give its hash"),
      ("type: integer64", "type: integer16", "does not give its hash"),
      ("type: integer64", "type: number", "rating has no type that is known"),
      ("format: 1", "format: 2", "the lock has format 2"), ("rating: {", "rating: { color: red,", "has no key color"),
      ("toMany: Tag, max: 5", "toMany: Tag, max: 99999999999", "max is out of range"),
      ("checksum: \"", "checksum: \"x", "the checksum of 1.0.0 does not follow"),
      ("  \"1.0.0\":", "  \"1.0.0\": {}\n  \"1.0.0\":", "stands here twice"),
    ])
  func refused(text: String, other: String, message: String) throws {
    let lock = try LockWriter(SchemaLock([.init(Self.model())])).text()
    let found = try #require(lock.range(of: text))
    let error = #expect(throws: BatchError.self) {
      try LockReader.parse(lock.replacingCharacters(in: found, with: other), path: "schema.lock")
    }
    #expect(error?.message.contains(message) == true && error?.message.hasPrefix("line ") == true, "\(error!)")
  }

  @Test("An empty lock, one that is too large, and one that is no text are one error")
  func files() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("lock-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    #expect(try LockReader.read(path) == nil)
    let cases: [(Data, String)] = [
      (Data("# nothing\n".utf8), "the lock is empty"), (Data([0xFF, 0xFE]), "the lock is not UTF-8"),
      (Data(repeating: 0x2C, count: LockReader.mostBytes), "the lock has more than 1048576 values"),
      (Data(repeating: 0x20, count: LockReader.mostBytes + 1), "the lock is larger than 8 MiB"),
    ]
    for (data, message) in cases {
      try data.write(to: URL(fileURLWithPath: path))
      let error = #expect(throws: BatchError.self) { try LockReader.read(path) }
      #expect(error?.message == message && error?.code == .badModel && error?.path == path)
    }
  }

  @Test("A comparison knows versions by name and by checksum, and explains a change by the lock alone")
  func comparison() throws {
    let lock = SchemaLock([.init(Self.model("1")), .init(Self.model("2", rating: .double))])
    var edited = Self.model("1")
    edited.entities[0].attributes[1].isOptional = true
    let changed = LockComparison(lock, [edited, Self.model("2", rating: .double), Self.model("3", rating: .float)])
    #expect(changed.changed.map(\.version) == ["1"] && changed.missing.isEmpty && !changed.isKept)
    #expect(changed.changed[0].edits.map(\.description) == ["Book.rating became optional"])
    #expect(changed.changed[0].obstacles.isEmpty && changed.unlocked.map(\.name) == ["3"])
    let renumbered = LockComparison(lock, [Self.model("1.1")])
    #expect(renumbered.missing == ["2"] && renumbered.changed.isEmpty && renumbered.unlocked.isEmpty)
  }
}
