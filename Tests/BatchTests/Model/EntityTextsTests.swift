import Foundation
import Streams
import Testing

@testable import CoreDataModel
@testable import RunSupport

@Suite("Entities read once for all versions")
struct EntityTextsTests {
  private static func read(_ text: String, _ texts: EntityTexts?) -> Result<ManagedObjectModel, BatchError> {
    Result {
      let folder = try ModelFolder(["contents": text])
      do { return try ModelXMLReader.read(folder.path + "/contents", name: "Model", texts: texts) } catch var error
        as BatchError
      {
        error.path = nil
        throw error
      }
    }.mapError { ($0 as? BatchError) ?? BatchError(.failed, "\($0)") }
  }

  /// Reads versions one after the other with shared texts, and each of them alone.
  private static func compare(_ texts: [String], _ message: @autoclosure () -> String = "") {
    let shared = EntityTexts()
    for text in texts {
      switch (read(text, shared), read(text, nil)) {
      case (.success(let model), .success(let whole)): #expect(model == whole, "\(message())")
      case (.failure(let error), .failure(let whole)): #expect("\(error)" == "\(whole)", "\(message())")
      case (let result, let whole): Issue.record("\(message()): \(result) instead of \(whole)")
      }
    }
  }

  @Test("Random models with every feature are those of a reading without shared texts, twice and in any version")
  func random() throws {
    let first: UInt64 = 77_100
    print("seeds from \(first)")
    for seed in first..<first + 60 {
      var random = RandomModel(seed: seed)
      let versions = try (0..<3).map { _ in try ModelXMLWriter.contents(of: random.model()) }
      Self.compare(versions + versions, "seed \(seed)")
    }
  }

  static func model(_ body: String) -> String { "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<model>\(body)</model>\n" }

  @Test(
    "Whatever a file holds, it says the same as without shared texts",
    arguments: [
      "<entity name='A'/><entity name='B'><attribute name='a' attributeType='String'/></entity >",
      "<entity name='A' elementID='a>b'><userInfo><entry key='>' value='/>'/></userInfo></entity>",
      "<entity name='A'><thing/><other name='x'/></entity><thing/><entity name='A'><thing/></entity>",
      "<entity name='A'><!-- </entity> --></entity>", "<!-- <entity name='A'/> --><entity name='B'/>",
      "<entity name='A'><![CDATA[</entity>]]></entity>", "<entity name='A'><?x </entity>?></entity>",
      "<entity name='A'><entity name='B'/></entity>", "<other><entity name='A'/></other><entity name='B'/>",
      "<entityX name='A'/><entity\n\tname='A'\n/>", "<entity name='&lt;&#65;'/>", "<entity name='A&b;'/>",
      "<entity name='A'>", "<entity name='A'", "</entity>", "<entity/>", "<entity name='A'/></entity>",
      "<entity name='A'><attribute name='a'></entity></attribute>", "<entity name='A' name='B'/>",
      "<entity name='A'><attribute name='a' attributeType='Unheard'/></entity>", "<entity place='0'/>",
      "<composite name='C'><attribute name='x' attributeType='Double'/></composite>"
        + "<entity name='A'><attribute name='a' attributeType='Composite' composite='C'/></entity>",
      "<entity name='A'><attribute name='a' attributeType='Composite' composite='C'/></entity>",
      "<a b='<entity name=\"A\"/>'/>", "<a <entity name='A'/>></a>",
    ])
  func anything(_ body: String) { Self.compare([Self.model(body), Self.model("<entity name='A'/>" + body), body]) }

  @Test("A file that is cut off or has a changed byte anywhere is refused or read as without shared texts")
  func damage() {
    let whole = Array(ModelReaderTests.model.utf8)
    var random = SeededRandom(77_200)
    for _ in 0..<300 {
      var bytes = whole
      if random.flag() { bytes.removeSubrange(Int.random(in: 0..<bytes.count, using: &random)...) }
      for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        bytes[place] = "<>/\"'=!?& e".utf8.randomElement(using: &random) ?? 0
      }
      let text = String(decoding: bytes, as: UTF8.self)
      Self.compare([ModelReaderTests.model, text], text)
    }
  }

  @Test("The limit of elements counts those of shared texts")
  func limit() {
    let entity =
      "<entity name='A'>" + String(repeating: "<attribute name='a' attributeType='String'/>", count: 1_000)
      + "</entity>"
    let model = Self.model(String(repeating: entity, count: 200))
    guard case .failure(let error) = Self.read(model, EntityTexts()) else { return #expect(Bool(false)) }
    #expect("\(error)".contains("more than 200000 elements"))
  }

  @Test("Every real bundle is read as its versions are alone", .enabled(if: ModelCorpus.isPresent))
  func corpus() throws {
    var count = 0
    for path in try ModelCorpus.folders("xcdatamodeld", below: "models") {
      for bundle in try ModelReader.read(path: ModelCorpus.path(path)) {
        for version in bundle.versions {
          let alone = ModelCorpus.versions["\(path.dropFirst("models/".count))/\(version.name).xcdatamodel"]
          guard let alone else { continue }
          #expect(version == alone, "\(path) \(version.name)")
          count += 1
        }
      }
    }
    print("\(count) versions")
    #expect(count > 300)
  }

  @Test("Hashes of versions that follow each other are those of each alone")
  func hashes() {
    let first: UInt64 = 77_300
    print("seeds from \(first)")
    for seed in first..<first + 100 {
      var (random, changes) = (RandomModel(seed: seed), SeededRandom(seed))
      var versions = [random.model()]
      for _ in 0..<4 {
        var next = versions[versions.count - 1]
        let (names, other) = (next.entities.map(\.name), random.model())
        for place in next.entities.indices where changes.flag(2) {
          next.entities[place].superentity = changes.flag(2) ? names.randomElement(using: &changes) : nil
          if changes.flag() { next.entities[place].relationships = other.entities[0].relationships }
        }
        versions.append(next)
      }
      #expect(ManagedObjectModel.versionHashes(versions) == versions.map(\.versionHashes), "seed \(seed)")
    }
  }
}
