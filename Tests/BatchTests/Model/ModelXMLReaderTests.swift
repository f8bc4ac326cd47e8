import Foundation
import Streams
import TestSupport
import Testing

@testable import CoreDataModel
@testable import RunSupport

@Suite("Model files as they are read")
struct ModelXMLReaderTests {
  static func read(_ text: String) throws -> ManagedObjectModel { try read(Data(text.utf8)) }

  static func read(_ data: Data) throws -> ManagedObjectModel {
    try ModelXMLReader.read(data, path: "M/contents", name: "M")
  }

  static func entity(_ content: String) throws -> EntityDescription {
    let model = try read("<model><entity name=\"E\">\(content)</entity></model>")
    return try #require(model.entity("E"))
  }

  @Test("Default values have the type of their attribute, decimals all their digits")
  func defaults() throws {
    let cases: [(String, String, Value, String?)] = [
      ("Integer 16", "-7", .integer(-7), nil), ("Integer 32", "0.0", .integer(0), nil),
      ("Integer 64", "9223372036854775807", .integer(.max), nil), ("Integer 64", "YES", .integer(1), nil),
      ("Boolean", "YES", .integer(1), nil), ("Boolean", "false", .integer(0), nil), ("Boolean", "2", .integer(1), nil),
      ("Double", "1e3", .real(1000), nil), ("Float", "0.1", .real(Double(Float(0.1))), nil),
      ("Decimal", "0.1", .real(0.1), nil), ("Decimal", "19.990", .real(19.99), nil),
      (
        "Decimal", "12345678901234567890.123456789", .real(12_345_678_901_234_567_890.123456789),
        "12345678901234567890.123456789"
      ),
      ("URI", "https://example.org/a?b=1&amp;c", .text("https://example.org/a?b=1&c"), nil),
      ("UUID", "00000000-0000-0000-0000-0000000000FF", .blob([UInt8](repeating: 0, count: 15) + [255]), nil),
      ("String", " a&#10;b ", .text(" a\nb "), nil),
    ]
    for (type, text, value, exact) in cases {
      let entity = try Self.entity("<attribute name=\"a\" attributeType=\"\(type)\" defaultValueString=\"\(text)\"/>")
      #expect(entity.attributes[0].defaultValue == value, "\(type) \(text)")
      #expect(entity.attributes[0].exactDefaultValue == exact, "\(type) \(text)")
    }
    let date = try Self.entity("<attribute name=\"a\" attributeType=\"Date\" defaultDateTimeInterval=\"-0.5\"/>")
    #expect(date.attributes[0].defaultValue == .real(-0.5))
  }

  @Test("Bounds and settings of attributes, flags in both spellings, what is new stays unknown")
  func attributes() throws {
    let entity = try Self.entity(
      """
      <attribute name="s" attributeType="String" minValueString="1" maxValueString="64" regularExpressionString="^a"/>
      <attribute name="d" attributeType="Date" minDateTimeInterval="100" maxDateTimeInterval="200.5"/>
      <attribute name="n" attributeType="Decimal" minValueString="0.1000000000000000000001" maxValueString="5"/>
      <attribute name="f" attributeType="String" optional="true" transient="false" usesScalarValueType="NO" syncable="true"
        allowsCloudEncryption="YES" storedInTruthFile="YES" spotlightIndexingEnabled="YES" preserveAfterDeletion="YES"
        allowsExternalBinaryDataStorage="1" indexed="YES" derivationExpression="left" minValueString="x" new="1"/>
      <attribute name="u" optional="YES" transient="YES"/>
      """)
    let (text, date, decimal) = (entity.attributes[0], entity.attributes[1], entity.attributes[2])
    #expect(text.minimumValue == .integer(1) && text.maximumValue == .integer(64) && text.regularExpression == "^a")
    #expect(date.minimumValue == .real(100) && date.maximumValue == .real(200.5))
    #expect(decimal.minimumValue == .text("0.1000000000000000000001") && decimal.maximumValue == .real(5))
    let flags = entity.attributes[3]
    #expect(flags.isOptional && !flags.isTransient && flags.usesScalarValueType == false && flags.isSyncable == true)
    #expect(flags.allowsCloudEncryption && flags.isStoredInExternalRecord && flags.isIndexedBySpotlight)
    #expect(flags.preservesValueInHistoryOnDeletion && flags.allowsExternalBinaryDataStorage && flags.isIndexed)
    #expect(flags.derivationExpression == nil && flags.derivationFilter == nil)
    #expect(flags.unknown == ["derivationExpression": "left", "minValueString": "x", "new": "1"])
    #expect(entity.attributes[4].type == .undefined && entity.attributes[4].usesScalarValueType == nil)
  }

  @Test("Relationships, indexes of all kinds and fetched properties")
  func properties() throws {
    let entity = try Self.entity(
      """
      <relationship name="r" destinationEntity="E" inverseName="q" inverseEntity="Parent" maxCount="1" deleteRule="No Action"
        indexed="YES"/>
      <relationship name="q" toMany="true" minCount="2" maxCount="5" ordered="YES" destinationEntity="E" inverseName="r"
        inverseEntity="E"/>
      <fetchedProperty name="f" optional="YES"><fetchRequest name="fetchedPropertyFetchRequest" entity="E"
        predicateString="a == $FETCH_SOURCE" fetchLimit="3"/><userInfo><entry key="k" value="v"/></userInfo></fetchedProperty>
      <compoundIndexes><compoundIndex><index value="a"/><index value="b"/></compoundIndex></compoundIndexes>
      <fetchIndex name="i" partialIndexPredicate="a &gt; 1">
        <fetchIndexElement property="a" type="RTree" order="descending"/>
        <fetchIndexElement expression="length:(b)" expressionType="Integer 64" type="Binary" order="ascending"/>
      </fetchIndex>
      """)
    let (r, q) = (entity.relationships[0], entity.relationships[1])
    #expect(r.inverseEntity == "Parent" && r.deleteRule == .noAction && r.isIndexed && !r.isToMany && r.unknown == [:])
    #expect(q.inverseEntity == nil && q.minCount == 2 && q.maxCount == 5 && q.isOrdered && q.deleteRule == .nullify)
    let fetched = try #require(entity.fetchedProperties.first)
    #expect(fetched.isOptional && fetched.userInfo == ["k": "v"] && fetched.fetchRequest.fetchLimit == 3)
    #expect(fetched.fetchRequest.entity == "E" && fetched.fetchRequest.predicate == "a == $FETCH_SOURCE")
    #expect(entity.compoundIndexes == [["a", "b"]])
    let index = try #require(entity.indexes.first)
    #expect(index.partialPredicate == "a > 1" && index.elements[0].type == "RTree" && !index.elements[0].isAscending)
    #expect(index.elements[1].expression == "length:(b)" && index.elements[1].expressionType == .integer64)
  }

  @Test("Templates, configurations, composites inside composites; unknown elements are named, with all in them")
  func whole() throws {
    let model = try Self.read(
      """
      <model usedWithCloudKit="YES" sourceLanguage="Swift" documentVersion="1.0">
        <entity name="E"><attribute name="a" attributeType="Composite" composite="Outer"/><new name="n"><attribute name="x"/>
          </new></entity>
        <fetchRequest name="all" entity="E" predicateString="TRUEPREDICATE" includeSubentities="NO"/>
        <composite name="Outer"><attribute name="i" attributeType="Composite" composite="Inner"/></composite>
        <composite name="Inner"><attribute name="x" attributeType="Double"/><userInfo><entry key="k" value="v"/></userInfo>
        </composite>
        <configuration name="Cloud" usedWithCloudKit="YES"><memberEntity name="E"/></configuration>
        <newer><entity name="not"/></newer>
        <elements><element name="E" positionX="0"/></elements>
      </model>
      """)
    #expect(model.isUsedWithCloudKit && model.unknown == ["sourceLanguage": "Swift"])
    #expect(model.fetchRequestTemplates["all"]?.includesSubentities == false)
    #expect(model.cloudKitConfigurations == ["Cloud"] && model.configurations == ["Cloud": ["E"]])
    #expect(model.attribute("a", of: "E")?.elements.first?.elements.map(\.name) == ["x"])
    #expect(model.composites["Inner"]?.userInfo == ["k": "v"])
    #expect(model.unknownElements == ["model/entity/new \"n\"", "model/newer"])
    #expect(model.entities.map(\.name) == ["E"])
  }

  @Test(
    "What cannot be right is one error that names the file and the line",
    arguments: [
      (
        "<model>\n<entity name=\"A\">\n<attribute name=\"b\" attributeType=\"Date\" defaultDateTimeInterval=\"soon\"/>",
        3
      ),
      ("<model>\n<entity name=\"A\" isAbstract=\"perhaps\"/></model>", 2),
      (
        "<model>\n<entity name=\"A\"><relationship name=\"r\" destinationEntity=\"A\" maxCount=\"many\"/></entity></model>",
        2
      ),
      (
        "<model>\n<entity name=\"A\"><relationship name=\"r\" destinationEntity=\"A\" maxCount=\"9999999999\"/></entity></model>",
        2
      ),
      (
        "<model>\n<entity name=\"A\"><relationship name=\"r\" destinationEntity=\"A\" deletionRule=\"Burn\"/></entity></model>",
        2
      ),
      ("<model>\n\n<composite name=\"A\"/>\n<composite name=\"A\"/></model>", 4),
      ("<model>\n<entity name=\"A\"><fetchIndex name=\"i\"><fetchIndexElement/></fetchIndex></entity></model>", 2),
      ("<model>\n<entity name=\"A\">\n<attribute", 3), ("<model>\n<entity name=\"A\"", 2),
      ("<model>\n<entity name=\"A\" name=\"B\"/></model>", 2), ("<model>\n&lol;</model>", 2),
      ("<?xml version=\"1.0\"?>\n<!DOCTYPE m [<!ENTITY a \"b\">]><model/>", 2),
      ("<?xml version=\"1.0\" encoding='ISO-8859-1'?><model/>", 1),
      ("<?xml version=\"1.0\" encoding=\"UTF-7\"?><model/>", 1),
    ])
  func wrong(text: String, line: Int) {
    let error = #expect(throws: BatchError.self) { try Self.read(text) }
    #expect(error?.code == .badModel && error?.path == "M/contents", "\(error?.description ?? "")")
    #expect(error?.message.contains("line \(line)") == true)
  }

  @Test("Bytes that are no UTF-8, and UTF-16, are refused with their line")
  func encodings() {
    let latin = Data("<model>\n<entity name=\"".utf8) + [0xE9] + Data("\"/></model>".utf8)
    let error = #expect(throws: BatchError.self) { try Self.read(latin) }
    #expect(error?.message == "the file is not UTF-8 (line 2)")
    for encoding in [String.Encoding.utf16, .utf16BigEndian, .utf32] {
      let data = "<model/>".data(using: encoding) ?? Data()
      #expect(throws: BatchError.self) { try Self.read(data) }
    }
  }

  @Test(
    "Laughs, deep nesting, a million attributes, endless parents and files elsewhere do no harm",
    .endsWithin(minutes: 3))
  func hostile() throws {
    let laughs = (1..<30).map { "<!ENTITY l\($0) \"\(String(repeating: "&l\($0 - 1);", count: 10))\">" }.joined()
    let deep = String(repeating: "<entity name=\"a\">", count: 100_000)
    let many = (0..<1_000_000).map { "a\($0)=\"\"" }.joined(separator: " ")
    let wide = String(repeating: "<entity name=\"a\"/>", count: 200_001)
    let declared = (0..<10_000).map { "a\($0) CDATA \"\"" }.joined(separator: " ")
    let chain = (1..<200).map { "<entity name=\"e\($0)\" parentEntity=\"e\($0 - 1)\"/>" }.joined()
    for (text, reason) in [
      ("<!DOCTYPE m [<!ENTITY l0 \"ha\">\(laughs)]><model name=\"&l29;\"/>", "declares entities"),
      ("<model><entity name=\"E\" \(many)/></model>", "more than 1000 attributes"),
      ("<model>\(wide)</model>", "more than 200000 elements"),
      ("<!DOCTYPE m [<!ATTLIST entity \(declared)>]><model/>", "declares attributes"),
      ("<model>\(deep)", "nested too deeply"),
      ("<model>\(chain)</model>", "more than 100 ancestors"),
    ] {
      let error = #expect(throws: BatchError.self) { try Self.read(text) }
      #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }
  }

  @Test("A file that another file is named in is not opened", .endsWithin(minutes: 1))
  func external() throws {
    let folder = try ModelFolder(["x": ""])
    let pipe = folder.path + "/pipe"
    #expect(mkfifo(pipe, 0o600) == 0)
    // Opening the pipe would block for ever.
    let model = try Self.read("<!DOCTYPE model SYSTEM \"file://\(pipe)\"><model><entity name=\"E\"/></model>")
    #expect(model.entities.map(\.name) == ["E"])
  }
}

@Suite("Damaged model files")
struct ModelXMLFuzzTests {
  /// Changes bytes, cuts, repeats and moves pieces.
  static func damaged(_ text: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
    var bytes = text
    for _ in 0...Int.random(in: 0...3, using: &random) {
      guard bytes.count > 10 else { break }
      let start = Int.random(in: 0..<bytes.count - 1, using: &random)
      let end = min(bytes.count, start + Int.random(in: 1...40, using: &random))
      switch Int.random(in: 0...5, using: &random) {
      case 0: bytes[start] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes.removeSubrange(start..<end)
      case 2: bytes.insert(contentsOf: bytes[start..<end], at: Int.random(in: 0...bytes.count, using: &random))
      case 3: bytes[start] = Array("<>&\"'=/ -9.eNY".utf8).randomElement(using: &random) ?? 0
      case 4: bytes.removeLast(bytes.count - start)
      default: bytes.replaceSubrange(start..<end, with: bytes[start..<end].reversed())
      }
    }
    return bytes
  }

  @Test(
    "No damage makes the reader trap: a model comes out whole, or an error with file and reason",
    .endsWithin(minutes: 5))
  func fuzz() throws {
    let first: UInt64 = 20_240_612
    print("seeds from \(first)")
    var (read, refused) = (0, 0)
    for seed in first..<first + 60 {
      var random = SeededRandom(seed)
      var maker = RandomModel(seed: seed)
      let text = Array(try ModelXMLWriter.contents(of: maker.model()).utf8)
      for _ in 0..<100 {
        do {
          let model = try ModelXMLReaderTests.read(Data(Self.damaged(text, &random)))
          read += 1
          _ = (model.problems, model.versionHashes, model.entityNumbers)
          guard let again = try? ModelXMLWriter.contents(of: model) else { continue }
          let copy = try ModelXMLReader.read(Data(again.utf8), path: "again", name: "M")
          #expect(copy.versionHashes == model.versionHashes, "seed \(seed)")
        } catch let error as BatchError {
          refused += 1
          #expect(
            error.code == .badModel && error.path == "M/contents" && !error.message.isEmpty, "seed \(seed) \(error)")
        }
      }
    }
    print("\(read) damaged files were read, \(refused) refused")
    #expect(read > 300 && refused > 3_000)
  }
}
