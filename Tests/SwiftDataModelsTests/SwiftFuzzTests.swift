import Foundation
import RunSupport
import Testing

@testable import SwiftDataModels

@Suite(
  "Mutated sources end in a model or in an error with file and line",
  .enabled(if: SourceParser.isThere, "built without SwiftData"))
struct SwiftFuzzTests {
  private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state ^ (state >> 33)) &* 0xff51_afd7_ed55_8ccd
    }
  }

  private static let own = """
    import SwiftData
    enum SchemaV1: VersionedSchema {
      static let versionIdentifier = Schema.Version(1, 0, 0)
      static var models: [any PersistentModel.Type] { [Trip.self, Stop.self] }
      @Model final class Trip {
        #Unique<Trip>([\\.name], [\\.start, \\.end])
        #Index<Trip>([\\.name])
        @Attribute(.unique, originalName: "title") var name: String = "x\\(1)"
        var start: Date = Date(), end: Date?
        @Relationship(deleteRule: .cascade, inverse: \\Stop.trip) var stops: [Stop] = []
        var place: Place?; var kind = Kind.long; var tags: [String: [Int]] = [:]
        #if DEBUG && os(iOS)
        var debug: Int
        #endif
      }
      @Model class Stop { var trip: Trip?; @Transient var n = 1 }
    }
    struct Place: Codable { var x: Double; var inner: [Place] }
    enum Kind: String, Codable { case long, short = "s" }
    enum Plan: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [SchemaV1.self] }
      static var stages: [MigrationStage] { [.custom(fromVersion: SchemaV1.self, toVersion: SchemaV1.self) { _ in }] }
    }
    """

  /// Small files of the corpus with classes, if it is there.
  private static func seeds() -> [[UInt8]] {
    let files = Set(SwiftDataCorpus.entries.map(\.sources)).sorted().flatMap {
      (try? SourceFolder.files(below: $0)) ?? []
    }
    let texts = files.compactMap { FileManager.default.contents(atPath: $0) }.map { Array($0) }
    return [Array(own.utf8)]
      + texts.filter { $0.count < 6000 && String(decoding: $0, as: UTF8.self).contains("@Model") }
  }

  private static let words = [
    "{", "}", "(", ")", "\"", "\\(", "#if ", "#endif\n", "@Model ", "class ", "enum ", "var ", "?", "[", "]", "<", ">",
    ": ",
    "inverse: \\", ".self", "\u{0}", "é", "/*", "*/", "\"\"\"", "extension ", "typealias Trip = ", "= ", ", ", "-> ",
    "try ",
  ]

  private static func mutated(_ seed: [UInt8], _ other: [UInt8], _ random: inout Generator) -> [UInt8] {
    var bytes = seed
    for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      let end = min(bytes.count, place + Int.random(in: 1...40, using: &random))
      switch Int.random(in: 0..<5, using: &random) {
      case 0: bytes.removeSubrange(place..<end)
      case 1: bytes.insert(contentsOf: (words.randomElement(using: &random) ?? "").utf8, at: place)
      case 2: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 3:
        let start = Int.random(in: 0..<other.count, using: &random)
        bytes.insert(contentsOf: other[start..<min(other.count, start + 60)], at: place)
      default: bytes.replaceSubrange(place..<end, with: bytes.shuffled(using: &random).prefix(end - place))
      }
    }
    return bytes
  }

  @Test("None crashes, and each error names a line of a file")
  func mutations() throws {
    let environment = ProcessInfo.processInfo.environment
    let count = environment["GODWIT_SWIFT_CASES"].flatMap(Int.init) ?? 300
    let seed = environment["GODWIT_SWIFT_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0..<1_000_000)
    print("GODWIT_SWIFT_SEED=\(seed)")
    var random = Generator(state: seed)
    let seeds = Self.seeds()
    var models = 0
    for _ in 0..<count {
      let picked = [0, 1].map { _ in seeds.randomElement(using: &random) ?? [] }
      let text = SourceText(path: "Models.swift", bytes: Self.mutated(picked[0], picked[1], &random))
      do {
        models += try SwiftDataReader().schema(texts: [text]).versions.count
      } catch let error as BatchError {
        let isPlaced = error.path?.wholeMatch(of: /Models\.swift:[0-9]+/) != nil
        #expect(isPlaced, "seed \(seed): \(error)\n\(String(decoding: text.bytes, as: UTF8.self))")
      }
    }
    print("\(models) models of \(count) mutated sources")
  }
}
