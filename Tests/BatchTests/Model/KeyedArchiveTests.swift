import Foundation
import Testing

@testable import Codecs
@testable import CoreDataModel
@testable import MappingModels

@Suite("Binary property lists and keyed archives")
struct KeyedArchiveTests {
  @Test("Values of every kind are read as Foundation wrote them")
  func values() throws {
    let list: [String: Any] = [
      "short": "ascii", "wide": "žluťoučký 🐎", "no": -7, "big": Int64.max, "small": 200, "real": 1.5, "yes": true,
      "data": Data([1, 2, 3]), "date": Date(timeIntervalSinceReferenceDate: 12.5),
      "list": (0..<300).map { "element \($0)" },
    ]
    let data = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    guard case .dictionary(let read) = try PropertyListReader.read(Array(data)) else {
      Issue.record("no dictionary")
      return
    }
    #expect(read["short"] == .string("ascii") && read["wide"] == .string("žluťoučký 🐎"))
    #expect(read["no"] == .integer(-7) && read["big"] == .integer(.max) && read["small"] == .integer(200))
    #expect(read["real"] == .real(1.5) && read["yes"] == .boolean(true) && read["data"] == .data([1, 2, 3]))
    #expect(read["date"] == .date(12.5))
    #expect(read["list"] == .array((0..<300).map { .string("element \($0)") }))
  }

  static func archive() throws -> [UInt8] {
    let object: NSDictionary = ["modelVersion": "2", "list": ["a", "b"] as NSArray, "data": NSData(data: Data([9]))]
    return Array(try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false))
  }

  @Test("An archive is resolved key by key")
  func archive() throws {
    let root = try #require(try KeyedArchive(Self.archive()).root)
    #expect(root.className == "NSDictionary" && root.classNames.contains("NSObject"))
    #expect(root.entry("modelVersion")?.string == "2")
    #expect(root.entry("list")?.array?.compactMap(\.string) == ["a", "b"])
    #expect(root.entry("data")?.data == [9])
    #expect(root.entry("nothing") == nil && root["nothing"] == nil)
  }

  @Test("An object that holds itself is refused, not followed")
  func ring() {
    var bytes = Array("bplist00".utf8) + [0xA1, 0x00, 0x08]
    bytes += [0, 0, 0, 0, 0, 0, 1, 1]
    for number: UInt8 in [1, 0, 10] { bytes += [0, 0, 0, 0, 0, 0, 0, number] }
    let error = #expect(throws: PropertyListReader.Damage.self) { try PropertyListReader.read(bytes) }
    #expect(error?.description.contains("hold themselves") == true)
  }

  @Test("No damaged byte makes the reader trap, and what is cut off is refused")
  func damaged() throws {
    let whole = try Self.archive()
    for length in 0..<whole.count {
      #expect(throws: (any Error).self) { try KeyedArchive(Array(whole.prefix(length))) }
    }
    let seed: UInt64 = 20_240_607
    print("seed \(seed)")
    var state = seed
    func random(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(truncatingIfNeeded: state >> 33) % bound
    }
    for _ in 0..<3_000 {
      var bytes = whole
      for _ in 0...random(4) { bytes[random(bytes.count)] = UInt8(truncatingIfNeeded: random(256)) }
      guard let root = try? KeyedArchive(bytes).root else { continue }
      _ = (root.className, root.dictionary?.count, root.entry("list")?.array?.count, root.data, root.date, root.real)
      _ = try? EmbeddedModelReader.read(bytes, name: "")
      _ = try? CoreDataModel.Expression(archive: bytes)
    }
  }
}
