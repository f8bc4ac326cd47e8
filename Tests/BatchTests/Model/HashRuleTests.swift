import Streams
import Testing

@testable import Codecs
@testable import CoreDataModel

/// Hashes put together by hand from the rules A.1 to A.5, for what no real store shows.
@Suite("Rules of version hashes")
struct HashRuleTests {
  static func hash(_ parts: [UInt8]...) -> [UInt8] { SHA256.hash(parts.flatMap { $0 }) }
  static func text(_ text: String) -> [UInt8] { Array(text.utf8) }
  static func number(_ number: Int32) -> [UInt8] { withUnsafeBytes(of: number.littleEndian) { Array($0) } }

  static func plain(_ name: String, _ type: AttributeType, flags: UInt8 = 1) -> [UInt8] {
    hash(hash(text(name), [flags, 0]), number(type.rawValue))
  }

  @Test("A.1: read-only counts four, beside optional and transient; an empty modifier is none")
  func readOnly() {
    var attribute = AttributeDescription(name: "a", type: .string)
    attribute.isReadOnly = true
    #expect(attribute.versionHash == Self.plain("a", .string, flags: 5))
    attribute.isOptional = false
    attribute.versionHashModifier = ""
    #expect(attribute.versionHash == Self.plain("a", .string, flags: 4))
    var relationship = RelationshipDescription.toOne("r", "E", inverse: "r")
    relationship.isReadOnly = true
    let entity = EntityDescription(name: "E", relationships: [relationship])
    let expected = Self.hash(
      Self.hash(Self.text("r"), [5, 0]), Self.text("E"), Self.number(1), Self.number(0))
    #expect(ManagedObjectModel(entities: [entity]).versionHash(ofRelationship: "r", in: "E") == expected)
  }

  @Test("A.4: of a derived attribute the expression and the filter alone are hashed")
  func derived() {
    var attribute = AttributeDescription(name: "a", type: .integer64)
    for (expression, text) in [
      ("x.@count", "count:(x)"), ("x.y.@sum.z", "sum:(x.y.z)"), ("a.b", "a.b"), ("now()", "now()"),
      ("canonical:(name)", "canonical:(name)"),
    ] {
      attribute.derivationExpression = expression
      attribute.derivationFilter = nil
      #expect(attribute.versionHash == Self.hash(Self.text(text)))
      attribute.derivationFilter = "x > 1"
      #expect(attribute.versionHash == Self.hash(Self.text(text), Self.text("x > 1")))
    }
  }

  @Test("A.4: composites hash the elements of all levels in order of names")
  func composites() {
    var hidden = AttributeDescription(name: "c", type: .string)
    hidden.isTransient = true
    var inner = AttributeDescription(name: "b", type: .composite)
    inner.elements = [AttributeDescription(name: "z", type: .double), AttributeDescription(name: "y", type: .date)]
    var outer = AttributeDescription(name: "o", type: .composite)
    outer.elements = [inner, hidden, AttributeDescription(name: "a", type: .uuid)]
    let expected = Self.hash(Self.plain("a", .uuid), Self.plain("y", .date), Self.plain("z", .double))
    #expect(outer.versionHash == expected)
  }

  @Test("A.5: constraints are sorted texts, names any Unicode in the order of their bytes")
  func entities() {
    var entity = EntityDescription(
      name: "É", attributes: ["é", "z", "名", "Z"].map { AttributeDescription(name: $0, type: .string) })
    entity.uniquenessConstraints = [["z"], ["é", "Z"]]
    entity.versionHashModifier = "2"
    let expected = Self.hash(
      Self.text("É"), [0], Self.plain("Z", .string), Self.plain("z", .string), Self.plain("é", .string),
      Self.plain("名", .string), Self.text("2"), Self.text("z"), Self.text("é.Z"))
    #expect(ManagedObjectModel(entities: [entity]).versionHashes["É"] == expected)
    entity.uniquenessConstraints.reverse()
    #expect(ManagedObjectModel(entities: [entity]).versionHashes["É"] == expected)
  }
}
