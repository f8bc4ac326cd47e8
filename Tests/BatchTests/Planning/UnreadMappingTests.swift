import Foundation
import Testing

@testable import MappingModels
@testable import Migrations

@Suite("Which steps a mapping model that cannot be read may be for")
final class UnreadMappingTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("unread-\(UUID().uuidString)").path
  private static let names = ["Shop", "Shop 2", "Shop 20"]
  /// The entity A is another one in each version, B stays.
  private static let hashes = (1...3).map { ["A": hash($0), "B": hash(9)] }

  init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private static func hash(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number), count: 32) }

  private func reach(_ file: String, _ contents: [UInt8], in name: String = "") throws -> UnreadMapping.Reach {
    let path = folder + "/" + file
    if !name.isEmpty { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
    try Data(contents).write(to: URL(fileURLWithPath: name.isEmpty ? path : path + "/" + name))
    return UnreadMapping(path: path, place: file, reason: "it is damaged").reach(names: Self.names, hashes: Self.hashes)
  }

  private func compiled(_ file: String, _ hashes: [Int]) throws -> UnreadMapping.Reach {
    try reach(file, Array("bplist00".utf8) + hashes.flatMap { [0x4F, 0x10, 0x20] + Self.hash($0) })
  }

  private func pairs(_ pairs: (Int, Int)...) -> UnreadMapping.Reach {
    .pairs(Set(pairs.map { VersionGraph.Pair(source: $0.0, destination: $0.1) }))
  }

  @Test("Version hashes of a compiled one tell, also where it is cut off; those of no version are another model's")
  func byHashes() throws {
    #expect(try compiled("Any.cdm", [1, 2]) == pairs((0, 1), (1, 0)))
    #expect(try compiled("Any.cdm", [3]) == pairs((0, 2), (1, 2), (2, 0), (2, 1)))
    #expect(try compiled("Other.cdm", [77]) == pairs())
    #expect(try compiled("Any.cdm", []) == .any)
  }

  @Test("An entity that stays as it is fits many steps: then the file's name decides")
  func byHashesAndName() throws {
    #expect(try compiled("Shop2ToShop20.cdm", [9]) == pairs((1, 2)))
    #expect(try compiled("Shop2ToShop20.cdm", [1, 2]) == pairs((0, 1), (1, 0)))
  }

  @Test(
    "The name of a file begins with those of two versions",
    arguments: [
      ("ShopToShop2.cdm", [(0, 1)]), ("Shop_Shop20.cdm", [(0, 2)]), ("Shop2_to_Shop20_User.cdm", [(1, 2)]),
    ])
  func byName(file: String, wanted: [(Int, Int)]) throws {
    #expect(
      try reach(file, []) == .pairs(Set(wanted.map { VersionGraph.Pair(source: $0.0, destination: $0.1) })))
    #expect(try reach("Shop2ToShop3.cdm", []) == .any)
  }

  @Test("What is left of Xcode's names the versions, and so do the lines of a mapping file")
  func byContents() throws {
    let xml = """
      <?xml version="1.0"?>
      <database><object type="XDDEVMAPPINGMODEL" id="z1">
      <attribute name="sourcemodelpath" type="string">App/Shop.xcdatamodeld/Shop 2.xcdatamodel</attribute>
      <attribute name="destinationmodelpath" type="string">App/Shop.xcdatamodeld/Shop 20.xcdatamodel</attribute>
      <relationship
      """
    #expect(try reach("ShopToShop2.xcmappingmodel", Array(xml.utf8), in: "xcmapping.xml") == pairs((1, 2)))
    #expect(
      try reach("Step.yaml", Array("from: Shop   # the first\nto: \"Shop 20\"\nentities: [".utf8)) == pairs((0, 2)))
    #expect(try reach("Step.yaml", Array("from: { name: Shop }\nto: Shop 2\nentities: [".utf8)) == .any)
  }
}
