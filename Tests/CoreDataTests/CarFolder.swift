import BatchTesting
import Foundation
import Migrations
import StoreSamples
import Streams

@testable import CoreDataModel

/// Cars whose makers are texts become cars whose makers are objects: models, mapping files and a store of one test.
final class CarFolder {
  let path: String
  let store: String

  /// With `ordersCars` a maker's cars have an order.
  init(rows: UInt64 = 120, ordersCars: Bool = false) throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("godwit-cars-\(UUID().uuidString)").path
    store = path + "/Cars.sqlite"
    try write(
      """
      <entity name="Car">\(Self.car)
        <attribute name="maker" optional="YES" attributeType="String"><userInfo><entry key="godwit.sample.distinct" \
      value="7"/><entry key="godwit.sample.edges" value="never"/></userInfo></attribute>
        <relationship name="owner" optional="YES" maxCount="1" destinationEntity="Person" inverseName="cars" \
      inverseEntity="Person"/></entity>\(Self.person)
      """, to: "Cars 1")
    try write(
      """
      <entity name="Car">\(Self.car)
        <attribute name="note" optional="YES" attributeType="String" defaultValueString="new"/>
        <attribute name="photo" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
        <relationship name="owner" optional="YES" maxCount="1" destinationEntity="Person" inverseName="cars" \
      inverseEntity="Person"/>
        <relationship name="maker" optional="YES" maxCount="1" destinationEntity="Maker" inverseName="cars" \
      inverseEntity="Maker"/></entity>\(Self.person)
      <entity name="Maker"><attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="cars" optional="YES" toMany="YES" \(ordersCars ? "ordered=\"YES\" " : "")\
      destinationEntity="Car" inverseName="maker" \
      inverseEntity="Car"/></entity>
      """, to: "Cars 2")
    let model = try ModelReader.read(path: path + "/Cars.xcdatamodeld")[0].versions[0]
    try StoreSampler(model: model, rows: rows, seed: 1)
      .write(to: store, fileSystem: LocalFileSystem(), progress: { _ in })
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  private static let car = """
      <attribute name="number" attributeType="Integer 64" defaultValueString="0"/>
      <attribute name="price" attributeType="Double" defaultValueString="0"/>
      <attribute name="isUsed" attributeType="Boolean" defaultValueString="NO"/>
      <attribute name="sold" optional="YES" attributeType="Date"/>
      <attribute name="code" optional="YES" attributeType="UUID"/>
    """
  private static let person = """
    <entity name="Person"><attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="cars" optional="YES" toMany="YES" destinationEntity="Car" inverseName="owner" \
    inverseEntity="Car"/></entity>
    """

  private func write(_ entities: String, to version: String) throws {
    let folder = "\(path)/Cars.xcdatamodeld/\(version).xcdatamodel"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><model type=\"com.apple.IDECoreDataModeler.DataModel\">"
    try (head + entities + "</model>").write(toFile: folder + "/contents", atomically: true, encoding: .utf8)
  }

  /// Migrates a copy by a mapping of cars with a policy, or with rules.
  func migrate(_ car: String, _ policies: [any EntityMigrationPolicy.Type]) async throws -> MigratedStore {
    let mapping = "from: Cars 1\nto: Cars 2\nentities:\n  - Person\n  - to: Maker\n  - from: Car\n\(car)\n"
    let file = path + "/Mapping.yaml"
    try mapping.write(toFile: file, atomically: true, encoding: .utf8)
    return try await MigratedStore(
      store, models: [path + "/Cars.xcdatamodeld"], mappings: [file], to: "Cars 2", policies: policies)
  }

  /// Makers by name, with the numbers of their cars.
  static func makers(_ store: MigratedStore) throws -> [String: [Int64]] {
    let cars = Dictionary(uniqueKeysWithValues: try store.objects("Car").map { ($0.key, $0["number"].integer ?? -1) })
    return Dictionary(
      try store.objects("Maker").map { maker in
        (maker["name"].text ?? "", (maker["cars"].keys).compactMap { cars[$0] }.sorted())
      }, uniquingKeysWith: +)
  }
}
