import Foundation
import Streams
import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

/// Turns each image around; the third photo's is new, and the fourth's is taken as it is.
private struct TurningPolicy: EntityMigrationPolicy {
  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let photo = try manager.createDestinationInstance(forSource: source, in: mapping)
    switch source.key {
    case 3: try photo.set("image", .blob([7, 8]))
    case 4: try photo.set("image", from: source, "image")
    default:
      guard case .blob(let bytes) = try source.value("image") else { return try photo.set("image", .null) }
      try photo.set("image", .blob(bytes.reversed()))
      guard try photo.value("image") == .blob(bytes.reversed()) else { throw BatchError(.failed, "not what was set") }
    }
  }
}

/// Turns bytes around where a mapping model calls `turned:`.
private struct TurningFunction: EntityMigrationPolicy {
  func value(ofFunction name: String, arguments: [Value], source: SourceObject, manager: MigrationManager) throws
    -> Value
  {
    guard case .blob(let bytes)? = arguments.first else { return .null }
    return .blob(bytes.reversed())
  }
}

/// Finds photos by their images.
private struct FindingPolicy: EntityMigrationPolicy {
  func lookups(for mapping: EntityMapping) -> [Lookup] { [Lookup(entity: "Photo", attribute: "image")] }
}

/// An attribute that allows external storage has a byte before its bytes (B.4): Core Data would take the first byte of an
/// image for it.
@Suite("Attributes that allow external storage from one version on")
struct ExternalStorageChangeTests {
  /// Long enough for pages of its own.
  private static let long = String(repeating: "c3", count: 100_000)
  /// As a column that names a file begins, but of an attribute without external storage.
  private static let likeName = "02" + String(repeating: "41", count: 36) + "00"
  private static let images = ["aabb", "", nil, likeName, long]

  private static func photo(isExternal: Bool, _ more: String...) -> [EntityDescription] {
    var image = AttributeDescription(name: "image", type: .binaryData)
    image.allowsExternalBinaryDataStorage = isExternal
    var photo = StoreModels.entity("Photo", more.map { ($0, .string) })
    photo.attributes.append(image)
    return [photo]
  }

  /// One photo for each image; `mark` is what stands before its bytes.
  private static func store(_ old: [EntityDescription], _ new: [EntityDescription], mark: String = "") throws
    -> RuleStore
  {
    try RuleStore(
      old, new,
      images.enumerated().map {
        ("Photo", "Z_PK, ZIMAGE", "\($0 + 1), " + ($1.map { "x'\($0.isEmpty ? "" : mark)\($0)'" } ?? "NULL"))
      })
  }

  private static func images(_ store: String) throws -> [String] {
    try MigrationFolder.rows(store, "SELECT iif(ZIMAGE IS NULL, 'none', hex(ZIMAGE)) FROM ZPHOTO ORDER BY Z_PK").map {
      String($0.dropFirst("string(\"".count).dropLast(2)).lowercased()
    }
  }

  private static let marked = images.map { $0.map { "01" + $0 } ?? "none" }

  @Test("An inferred step keeps every value in the row, behind the byte that says so")
  func inferred() throws {
    let store = try Self.store(Self.photo(isExternal: false), Self.photo(isExternal: true, "title"))
    let found = try Self.images(store.inferred())
    #expect(found == Self.marked, "\(found.map { $0.prefix(80) })")
  }

  @Test("So do copies and choices of a mapping file")
  func mapped() throws {
    let store = try Self.store(Self.photo(isExternal: false), Self.photo(isExternal: true, "title"))
    for rule in ["$source.image", "{ if: \"image == nil\", then: $source.image, else: $source.image }"] {
      let result = try store.migrated("  - from: Photo\n    attributes: { image: \(rule) }")
      let found = try Self.images(result)
      #expect(found == Self.marked, "\(rule) \(found.map { $0.prefix(80) })")
    }
  }

  @Test("What one rule has made, another one takes over with the byte, once")
  func made() throws {
    let copies = ["File", "Copy"].map { name in
      var entity = Self.photo(isExternal: true)[0]
      entity.name = name
      return entity
    }
    let photo = Self.photo(isExternal: true)
    let store = try Self.store(photo, photo + copies, mark: "01")
    let rules =
      "{ create: File, as: f, attributes: { image: $source.image } }, "
      + "{ create: Copy, attributes: { image: { destination: $f, attribute: image } } }"
    let result = try store.migrated("  - from: Photo\n    objects: [\(rules)]")
    func images(_ table: String) throws -> [String] {
      try MigrationFolder.rows(result, "SELECT hex(ZIMAGE) FROM \(table) ORDER BY Z_PK")
    }
    #expect(try images("ZFILE") == images("ZPHOTO") && images("ZCOPY") == images("ZPHOTO"))
  }

  @Test("A flag that only a version between has changes nothing")
  func between() throws {
    let versions = [("A", false), ("B", true), ("C", false)].map { name, isExternal in
      ManagedObjectModel(
        name: name, entities: Self.photo(isExternal: isExternal, "title") + [StoreModels.entity(name + "Mark")])
    }
    let folder = try MigrationFolder(versions)
    let store = try folder.sample("A", rows: 4, seed: 3)
    let before = try Self.images(store)
    var request = folder.request(store)
    request.target = .version("C")
    #expect(try folder.migrate(request).isVerified)
    #expect(try Self.images(store) == before)
  }

  @Test("A value that may lie in a file cannot go into the row: refused, by rules too")
  func refused() throws {
    let store = try Self.store(Self.photo(isExternal: true), Self.photo(isExternal: false, "title"), mark: "01")
    for rules in ["  - Photo", "  - from: Photo\n    attributes: { image: $source.image }"] {
      let failure = try store.failure(rules)
      #expect(failure.contains("image would no longer allow external storage"), "\(failure)")
    }
  }

  @Test("A policy sees the bytes alone, and what it sets has the byte", arguments: [false, true])
  func policy(wasExternal: Bool) throws {
    let (folder, store) = try Self.mapped(wasExternal, PropertyMapping(name: "image"), TurningPolicy.self)
    #expect(try folder.migrate(folder.request(store)).isVerified)
    #expect(
      try Self.images(store) == ["01bbaa", "01", "010708", "01" + Self.likeName, "01" + Self.long])
  }

  /// A store whose photos go by one entity mapping, with a property and a policy.
  private static func mapped(
    _ wasExternal: Bool, _ image: PropertyMapping, _ policy: any EntityMigrationPolicy.Type, filter: String? = nil,
    of others: [String: String] = [:]
  ) throws -> (folder: MigrationFolder, store: String) {
    let (old, new) = (Self.photo(isExternal: wasExternal), Self.photo(isExternal: true, "title"))
    let rows = try Self.store(old, new, mark: wasExternal ? "01" : "")
    var photo = EntityMapping(sourceEntity: "Photo", destinationEntity: "Photo")
    (photo.attributeMappings, photo.policyClassName) = ([image], policy.className)
    photo.filterPredicate = filter
    for (name, format) in others {
      photo.attributeMappings.append(
        PropertyMapping(name: name, valueExpression: try CoreDataModel.Expression(format: format)))
    }
    var mapping = MappingModel(name: "AToB", entityMappings: [photo])
    (mapping.sourceModelName, mapping.destinationModelName) = ("A", "B")
    let folder = try MigrationFolder(
      [ManagedObjectModel(name: "A", entities: old), ManagedObjectModel(name: "B", entities: new)],
      mappings: [mapping], policies: [policy])
    return (folder, try folder.copy(rows.store, as: "policy"))
  }

  private static func image(_ format: String) throws -> PropertyMapping {
    PropertyMapping(name: "image", valueExpression: try CoreDataModel.Expression(format: format))
  }

  @Test(
    "Expressions and the policies' functions see the bytes alone, and what they give has the byte",
    arguments: [false, true])
  func computed(wasExternal: Bool) throws {
    let turned = ["01bbaa", "01", "none", "01" + "0041" + String(repeating: "41", count: 35) + "02", "01" + Self.long]
    for (format, images) in [
      ("FUNCTION($entityPolicy, \"turned:\", $source.image)", turned),
      ("TERNARY($source.image == nil, nil, $source.image)", Self.marked),
    ] {
      let (folder, store) = try Self.mapped(wasExternal, Self.image(format), TurningFunction.self)
      #expect(try folder.migrate(folder.request(store)).isVerified)
      #expect(try Self.images(store) == images, "\(format)")
    }
  }

  @Test("An expression cannot read what lies in a file, and says so; whether there is something, it can tell")
  func inFile() throws {
    func prepared(_ image: PropertyMapping) throws -> (MigrationFolder, String) {
      let (folder, store) = try Self.mapped(true, image, TurningFunction.self, filter: "image != nil")
      try MigrationFolder.execute(store, "UPDATE ZPHOTO SET ZIMAGE = x'\(Self.likeName)' WHERE Z_PK = 4")
      let files = ExternalDataFolder(store: store).files
      try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: true)
      try Data([9]).write(to: URL(fileURLWithPath: files + "/" + String(repeating: "A", count: 36)))
      return (folder, store)
    }
    let (folder, store) = try prepared(Self.image("FUNCTION($entityPolicy, \"turned:\", $source.image)"))
    #expect {
      try folder.migrate(folder.request(store))
    } throws: {
      "\($0)".contains("the value of image lies in a file beside the store")
    }
    let (other, copied) = try prepared(PropertyMapping(name: "image"))
    #expect(try other.migrate(other.request(copied)).isVerified)
    #expect(
      try Self.images(copied).map { $0.prefix(80) }
        == ["01aabb", "", Self.likeName, "01" + Self.long].map { $0.prefix(80) })
  }

  @Test("What a rule reads of another object has the byte, too")
  func related() throws {
    var (album, copy) = (Self.photo(isExternal: true)[0], Self.photo(isExternal: true)[0])
    (album.name, copy.name) = ("Album", "Copy")
    album.relationships = [StoreModels.link("photos", "Photo", "album", many: true)]
    var photo = StoreModels.entity("Photo", [("title", .string)])
    photo.relationships = [StoreModels.link("album", "Album", "photos")]
    let store = try RuleStore(
      [album, photo], [album, photo, copy],
      [("Album", "Z_PK, ZIMAGE", "1, x'01aabb'"), ("Photo", "Z_PK, ZALBUM", "1, 1"), ("Photo", "Z_PK", "2")])
    for value in ["$source.album.image", "{ if: \"album != nil\", then: $source.album.image }"] {
      let result = try store.migrated(
        "  - Album\n  - from: Photo\n    objects: [{ create: Copy, attributes: { image: \(value) } }]")
      let found = try MigrationFolder.rows(result, "SELECT hex(ZIMAGE) FROM ZCOPY ORDER BY Z_PK")
      #expect(found == ["string(\"01AABB\")", "string(\"\")"], "\(value) \(found)")
    }
  }

  @Test("Of its own object an expression sees the bytes, and knows of what lies in a file that it is there")
  func ownObject() throws {
    let (folder, store) = try Self.mapped(
      true, PropertyMapping(name: "image"), TurningFunction.self,
      of: [
        "title": "TERNARY($destination.image == nil, 'none', 'some')"
      ])
    try MigrationFolder.execute(store, "UPDATE ZPHOTO SET ZIMAGE = x'\(Self.likeName)' WHERE Z_PK = 4")
    #expect(try folder.migrate(folder.request(store)).isVerified)
    #expect(
      try MigrationFolder.rows(store, "SELECT ZTITLE FROM ZPHOTO ORDER BY Z_PK").map { $0.contains("some") }
        == [true, true, false, true, true])
    let (other, second) = try Self.mapped(
      true, PropertyMapping(name: "image"), TurningFunction.self,
      of: [
        "title": "TERNARY($destination.image == $source.image, 'same', 'other')"
      ])
    try MigrationFolder.execute(second, "UPDATE ZPHOTO SET ZIMAGE = x'\(Self.likeName)' WHERE Z_PK = 4")
    #expect { try other.migrate(other.request(second)) } throws: { "\($0)".contains("lies in a file beside the store") }
  }

  @Test("Nothing is found by what may lie in a file")
  func lookup() throws {
    let (folder, store) = try Self.mapped(true, PropertyMapping(name: "image"), FindingPolicy.self)
    #expect { try folder.migrate(folder.request(store)) } throws: {
      "\($0)".contains("nothing can be found by Photo.image: its values may lie in files beside the store")
    }
  }
}
