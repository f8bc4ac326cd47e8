import Foundation
import Testing

@testable import Codecs
@testable import CoreDataModel
@testable import RunSupport

/// What Core Data itself compiled and cached.
@Suite("Compiled models and model caches of others", .enabled(if: StoreCorpus.isPresent, "no corpus (GODWIT_CORPUS)"))
struct CompiledCorpusTests {
  @Test("Version hashes that follow from a store's model cache are those of its metadata")
  func caches() throws {
    let caches = try CompiledCorpus.caches.get()
    var equal = 0
    for cache in caches {
      let model = try ModelCache.decode(cache.content)
      #expect(model.versionHashes == cache.hashes, "\(cache.entry.path)")
      #expect(model.unknownElements == [], "\(cache.entry.path)")
      if model.versionHashes == cache.hashes { equal += 1 }
    }
    print("model caches: \(caches.count) stores carry one, \(equal) give the hashes of their metadata")
    #expect(caches.count == 54 && equal == 54)
    // No store of the corpus has a cache that is cut off; here is one.
    let whole = try #require(caches.first)
    #expect(throws: BatchError.self) { try ModelCache.decode(Array(whole.content.dropLast(whole.content.count / 3))) }
  }

  @Test("A cache that is read and written reads back equal, and has the classes and keys that Core Data's has")
  func roundTrip() throws {
    var (equal, sizes) = (0, (theirs: 0, ours: 0))
    for cache in try CompiledCorpus.caches.get() {
      let model = try ModelCache.decode(cache.content)
      let (content, leftOut) = try ModelCache.encode(model)
      let copy = try ModelCache.decode(content)
      #expect(leftOut == [] && copy == model, "\(cache.entry.path)")
      let theirs = try Shape(cache.content)
      let ours = try Shape(content)
      #expect(ours.superclasses.filter { theirs.superclasses[$0.key] != $0.value } == [:], "\(cache.entry.path)")
      #expect(ours.described == theirs.described, "\(cache.entry.path)")
      (sizes.theirs, sizes.ours) = (sizes.theirs + cache.content.count, sizes.ours + content.count)
      equal += 1
    }
    print("\(equal) caches written again: \(sizes.theirs) bytes by Core Data, \(sizes.ours) here")
    #expect(equal == 54)
  }

  /// Which classes an archive names and which keys its descriptions have.
  struct Shape {
    var superclasses: [String: [String]] = [:]
    /// By entity and property: class, keys and the flags `_P`.
    var described: [String: [String]] = [:]

    init(_ content: [UInt8]) throws {
      let archive = try KeyedArchive(Inflate.decode(content, limit: 1 << 24))
      let entities = archive.root?["NSEntities"]?.dictionary ?? []
      note(archive.root)
      for entity in entities.map(\.value) {
        let name = entity["NSEntityName"]?.string ?? ""
        note(entity)
        // Old frameworks write what is empty, or leave it out, each in their way.
        let varying: Set<String> = ["$class", "NSCompoundIndexes", "NSFetchIndexDescriptions"]
        described[name] = [entity.className ?? ""] + entity.keys.subtracting(varying).sorted()
        for (key, property) in entity["NSProperties"]?.dictionary ?? [] {
          // Old frameworks have stand-ins for inherited properties.
          let property = property["NSUnderlyingProperty"] ?? property
          note(property)
          described["\(name).\(key.string ?? "")"] =
            [property.className ?? "", String(property["_P"]?.integer ?? 0)] + property.keys.sorted()
        }
      }
    }

    private mutating func note(_ object: KeyedObject?) {
      guard let object, let name = object.className else { return }
      superclasses[name] = object.classNames
    }
  }

  /// Stores whose version in the repository was edited after the store was made, without a change of hashes.
  static let edited = [
    "stores/SRGSSR+srguserdata-apple/UserData_DB_v3/Data.sqlite": "HistoryEntry.dirty: default",
    "stores/apptentive+apptentive-ios/ATDataModelv6.sqlite": "ATMessage.pendingState: default",
    "stores/objcio+core-data/Moody.moody": "version identifiers; Continent: class; Country: class; Mood: class",
  ]

  @Test("A cache says the same as the XML of its version, but for what archives do not hold")
  func sameAsXML() throws {
    var (equal, differences) = (0, [String: String]())
    for cache in try CompiledCorpus.caches.get() {
      guard let path = cache.entry.model, path.hasSuffix("/contents"),
        let xml = ModelCorpus.versions[String(path.dropFirst("models/".count).dropLast("/contents".count))],
        xml.versionHashes == cache.hashes
      else { continue }
      let found = CompiledComparison(xml: xml, compiled: try ModelCache.decode(cache.content)).differences()
      if found.isEmpty { equal += 1 } else { differences[cache.entry.path] = found.joined(separator: "; ") }
    }
    print("caches against XML of the same version: \(equal) equal, \(differences.count) different")
    #expect(equal == 45 && differences == Self.edited)
  }

  @Test("Version hashes of compiled models are those in VersionInfo.plist")
  func bundles() throws {
    var (equal, versions) = (0, 0)
    for path in try CompiledCorpus.bundles() {
      let bundle = try #require(try ModelReader.read(path: path).first)
      #expect(bundle.warnings == [] && bundle.versions.contains { $0.name == bundle.currentVersion }, "\(path)")
      versions += bundle.versions.count
      let info = try VersionInfo(path + "/VersionInfo.plist")
      for version in bundle.versions {
        let hashes = version.versionHashes
        equal += (info.versionHashes[version.name] ?? [:]).filter { hashes[$0.key] == $0.value }.count
        #expect(version.unknownElements == [], "\(version.name)")
        let (archive, _) = CompiledModelWriter.write(version)
        #expect(try CompiledModelReader.read(archive, name: version.name) == version)
        try version.validate()
      }
    }
    print("compiled: \(versions) versions, \(equal) entities with the hashes of VersionInfo.plist")
    #expect(versions == 7 && equal == 138)
  }

  @Test("Compiled versions say the same as their XML")
  func compiledAgainstXML() throws {
    var equal = 0
    for version in try CompiledCorpus.bundles().flatMap({ try ModelReader.read(path: $0) }).flatMap(\.versions) {
      let key = "richardpiazza+XCServerCoreData/XCServerCoreData.xcdatamodeld/\(version.name).xcdatamodel"
      guard let xml = ModelCorpus.versions[key], xml.versionHashes == version.versionHashes else { continue }
      #expect(CompiledComparison(xml: xml, compiled: version).differences() == [])
      equal += 1
    }
    #expect(equal == 6)
  }

  @Test("Versions of Xcode before 4 give the hashes of the stores made with them")
  func legacy() throws {
    let path = try ModelCorpus.path("models/magicalpanda+MagicalRecord/Recipes.xcdatamodeld")
    let bundle = try #require(try ModelReader.read(path: path).first)
    let wanted = try ModelCorpus.table(ModelCorpus.path("HASHES.tsv")).filter {
      $0["repo"] == "magicalpanda+MagicalRecord"
    }
    let fitting = bundle.versions.filter { version in
      let hashes = version.versionHashes
      return wanted.allSatisfy {
        hashes[$0["entity"] ?? ""].map { Data($0).base64EncodedString() } == $0["version_hash_base64"]
      }
    }
    #expect(wanted.count == 4 && bundle.versions.count == 2 && fitting.count == 2)
    // Every version in the old form can be read.
    let folders = try ModelCorpus.folders("xcdatamodel", below: "models").map(ModelCorpus.path)
      .filter { !FileManager.default.fileExists(atPath: $0 + "/contents") }
    for folder in folders {
      #expect(try ModelReader.read(path: folder).first?.versions.first?.entities.isEmpty == false)
    }
    #expect(folders.count == 6)
  }
}
