import Foundation
import Testing

/// Composite attributes in the files of an import.
@Suite("Composite attributes of an import")
struct ImportCompositeTests {
  private static let model = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Spot" representedClassName="Spot">
            <attribute name="name" optional="YES" attributeType="String"/>
            <attribute name="place" optional="YES" attributeType="Composite" composite="Place"/>
        </entity>
        <composite name="Place">
            <attribute name="height" optional="YES" attributeType="Double" defaultValueString="7" usesScalarValueType="YES"/>
            <attribute name="inner" optional="YES" attributeType="Composite" composite="Inner"/>
        </composite>
        <composite name="Inner">
            <attribute name="street" optional="YES" attributeType="String"/>
        </composite>
    </model>
    """

  @Test("Null for a composite, or for one in it, is null for all its elements; a name that is none is refused")
  func null() throws {
    let folder = try CommandFolder()
    let package = folder.file("Spots.xcdatamodel")
    try FileManager.default.createDirectory(atPath: package, withIntermediateDirectories: true)
    try Self.model.write(toFile: "\(package)/contents", atomically: false, encoding: .utf8)
    func imported(_ places: [String]) throws -> CommandProcess.Outcome {
      let lines = places.map { #"{"entity":"Spot","attributes":{\#($0)}}"# }.joined(separator: "\n")
      try lines.write(toFile: folder.file("a.jsonl"), atomically: false, encoding: .utf8)
      return try folder.run(
        "godwit", ["import", package, folder.file("a.jsonl"), "--output", folder.file("Spots.sqlite"), "--quiet"])
    }
    let wrong = try imported([#""name":"a","plaec":null"#])
    #expect(wrong.code == 20 && wrong.error.contains("no property plaec"), "\(wrong)")
    let found = try imported([
      #""place":{"height":1.5,"inner":{"street":"x"}}"#, #""place":null"#, #""place":{"height":2,"inner":null}"#,
    ])
    #expect(found.code == 0, "\(found)")
    let export = try folder.run("godwit", ["export", folder.file("Spots.sqlite"), "--columns", "place"])
    let places = export.output.split(separator: "\n").map { $0.contains("street\":\"x") ? "x" : "-" }
    #expect(places == ["x", "-", "-"], "\(export)")
    #expect(!export.output.contains("7"), "\(export)")
  }
}
