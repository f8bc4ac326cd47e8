import Foundation
import Testing

@Suite("What mapping check counts and corrects")
struct MappingCountTests {
  private let folder: FindingFolder

  /// Two versions of a car and a truck, which are vehicles, and of an owner.
  init() throws {
    func entity(_ name: String, _ more: String, _ contents: String) -> String {
      "<entity name=\"\(name)\" representedClassName=\"\(name)\" \(more)syncable=\"YES\">\(contents)</entity>"
    }
    func version(_ more: String) -> String {
      entity("Vehicle", "", FindingFolder.name + more) + entity("Car", "parentEntity=\"Vehicle\" ", "")
        + entity("Truck", "parentEntity=\"Vehicle\" ", "") + entity("Owner", "", FindingFolder.name)
    }
    let extra = #"<attribute name="extra" optional="YES" attributeType="String"/>"#
    folder = try FindingFolder(entities: [version(""), version(extra)])
  }

  private func write(_ entities: String) throws -> String {
    let path = folder.file("Mappings/g.yaml")
    try FileManager.default.createDirectory(atPath: folder.file("Mappings"), withIntermediateDirectories: true)
    try "from: V1\nto: V2\nentities:\n\(entities)".write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  @Test("check counts entity mappings as plan lists them, and says how many the file has")
  func counts() throws {
    let file = try write("  - from: Vehicle\n    subentities: true\n  - Owner\n")
    let checked = try folder.run(["mapping", "check", file, "--models", folder.models])
    #expect(checked.output == "g: 4 entity mappings (2 in the file), V1 to V2\n", "\(checked)")
    let store = folder.file("b.sqlite")
    try folder.runWell(["sample", folder.models, "--version", "V1", "--rows", "8", "--output", store])
    let plan = try folder.run(["plan", store, "--models", folder.models, "--mappings", file, "--no-rehearsal"])
    #expect(plan.output.contains("  g: VehicleToVehicle, CarToCar, TruckToTruck, OwnerToOwner\n"), "\(plan)")
    let alone = try folder.run(["mapping", "check", file])
    #expect(alone.output == "g: 2 entity mappings, not compared with models\n", "\(alone)")
  }

  @Test("Of a folder with mapping files alone a file is to be corrected, and no mapping model")
  func corrected() throws {
    let file = try write("  - from: Vehicle\n    subentities: true\n    attributes: { nam: $source.name }\n  - Owner\n")
    for path in [file, folder.file("Mappings")] {
      let checked = try folder.run(["mapping", "check", path, "--models", folder.models])
      #expect(checked.code == 20 && checked.error.contains("Correct the mapping file"), "\(checked)")
    }
  }
}
