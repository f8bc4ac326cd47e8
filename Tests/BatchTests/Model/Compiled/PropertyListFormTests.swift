import Foundation
import Testing

@testable import Codecs
@testable import RunSupport

@Suite("Property lists in all three forms")
struct PropertyListFormTests {
  @Test("Kinds of values that Foundation has no types for survive reading and writing")
  func kinds() throws {
    let value = PropertyListValue.dictionary([
      "uids": .array([.uid(0), .uid(255), .uid(256), .uid(70_000), .uid(255)]), "null": .null, "float": .float(1.5),
      "wide": .wide(high: 1, low: 2), "negative": .wide(high: .max - 1, low: 0), "unsigned": .unsigned(.max),
      "set": .set([.integer(1), .string("a")]), "ordered": .orderedSet([.string("b"), .string("a")]),
    ])
    let bytes = PropertyListWriter.write(value)
    #expect(try PropertyListReader.read(bytes) == value)
    #expect(PropertyListWriter.write(try PropertyListReader.read(bytes)) == bytes)
  }

  @Test("A property list in XML reads as its values, references of archives among them")
  func xml() throws {
    let text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0"><dict>
        <key>a</key><array><string>x &amp; y</string><integer>-5</integer><real>0.5</real><true/><false/></array>
        <key>b</key><dict><key>CF$UID</key><integer>7</integer></dict>
        <key>c</key><data> AQID
        BA== </data>
        <key>d</key><date>2001-01-01T00:01:00Z</date>
        <key>e</key><integer>18446744073709551615</integer><key></key><string></string>
      </dict></plist>
      """
    let expected = PropertyListValue.dictionary([
      "a": .array([.string("x & y"), .integer(-5), .real(0.5), .boolean(true), .boolean(false)]), "b": .uid(7),
      "c": .data([1, 2, 3, 4]), "d": .date(60), "e": .unsigned(.max), "": .string(""),
    ])
    #expect(try PropertyListXMLReader.read(Data(text.utf8), path: "a.plist") == expected)
  }

  @Test(
    "A property list in XML that is none is refused",
    arguments: [
      "<dict><string>a</string></dict>", "<dict><key>a</key></dict>", "<array><key>a</key></array>",
      "<integer>x</integer>",
      "<dict><key>a</key><key>b</key></dict>", "<foo/>", "", "<string>a</string><string>b</string>",
      "<dict><key>a</key><true/><key>a</key><true/></dict>",
    ])
  func badXML(text: String) {
    let error = #expect(throws: BatchError.self) {
      try PropertyListXMLReader.read(Data("<plist>\(text)</plist>".utf8), path: "a.plist")
    }
    #expect(error?.path == "a.plist" && error?.code == .badModel)
  }

  @Test("The old text form reads as its values")
  func text() throws {
    let text = "{ /* a */ name = \"A \\\"b\\\"\"; list = (a, \"b c\", <0f A0>,); empty = {}; none = (); }"
    let expected = PropertyListValue.dictionary([
      "name": .string("A \"b\""), "list": .array([.string("a"), .string("b c"), .data([15, 160])]),
      "empty": .dictionary([:]), "none": .array([]),
    ])
    #expect(try PropertyListTextReader.read(Array(text.utf8)) == expected)
    for bad in ["", "{", "{a}", "{a=b}", "{a=b;a=c;}", "(a b)", "<1>", "<xy>", "\"a", "a b", "/*", "{=a;}"] {
      #expect(throws: PropertyListReader.Damage.self) { try PropertyListTextReader.read(Array(bad.utf8)) }
    }
    let deep = String(repeating: "(", count: 100_000)
    #expect(throws: PropertyListReader.Damage.self) { try PropertyListTextReader.read(Array(deep.utf8)) }
  }

  /// A binary property list of these objects, the first of them on top. References have two bytes.
  static func list(_ objects: [[UInt8]]) -> [UInt8] {
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for object in objects {
      offsets += [UInt8(bytes.count >> 16 & 255), UInt8(bytes.count >> 8 & 255), UInt8(bytes.count & 255)]
      bytes += object
    }
    let start = UInt64(bytes.count)
    bytes += offsets + [0, 0, 0, 0, 0, 0, 3, 2]
    for number in [UInt64(objects.count), 0, start] {
      bytes += (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
    }
    return bytes
  }

  @Test("Counts that no file can hold, rings, depth and shared trees are refused")
  func bombs() {
    let bombs: [(name: String, bytes: [UInt8], reason: String)] = [
      ("count", Self.list([[0xAF, 0x13, 0x7F, 255, 255, 255, 255, 255, 255, 255]]), "past the end"),
      ("data", Self.list([[0x4F, 0x12, 0xFF, 255, 255, 255]]), "past the end"),
      ("negative", Self.list([[0x5F, 0x13, 0xFF, 255, 255, 255, 255, 255, 255, 255]]), "too large"),
      ("ring", Self.list([[0xA1, 0, 1], [0xA1, 0, 0]]), "hold themselves"),
      ("depth", Self.list((1...100).map { [0xA1, 0, UInt8($0)] } + [[0x09]]), "deep"),
      (
        "tree", Self.list((1...60).map { [0xAE] + Array(repeating: [0, $0], count: 14).joined() } + [[0x09]]),
        "too large"
      ),
      ("key", Self.list([[0xD1, 0, 1, 0, 1], [0x09]]), "no text"),
      ("twice", Self.list([[0xD2, 0, 1, 0, 1, 0, 2, 0, 2], [0x51, 0x61], [0x09]]), "twice"),
      ("kind", Self.list([[0x99]]), "unknown type"),
    ]
    for bomb in bombs {
      let damage = #expect(throws: PropertyListReader.Damage.self, "\(bomb.name)") {
        try PropertyListReader.read(bomb.bytes)
      }
      #expect(damage?.description.contains(bomb.reason) == true, "\(bomb.name): \(damage?.description ?? "")")
    }
  }

  @Test("Damaged lists end in values or an error, never in a trap")
  func mutations() {
    let seed: UInt64 = 20_250_102
    print("seed \(seed)")
    var random = SeededRandom(seed)
    let texts = [
      "{ a = (b, \"c\"); d = <00ff>; }", "<plist><dict><key>a</key><array><data>AA==</data></array></dict></plist>",
    ]
    let original = PropertyListWriter.write(
      .dictionary([
        "a": .array([.uid(300), .set([.wide(high: 1, low: 1)])]), "é": .data(Array(repeating: 1, count: 40)),
      ]))
    for _ in 0..<3_000 {
      _ = try? PropertyListReader.read(Self.mutated(original, &random))
      _ = try? PropertyListTextReader.read(Self.mutated(Array(texts[0].utf8), &random))
    }
    for _ in 0..<300 {
      _ = try? PropertyListXMLReader.read(Data(Self.mutated(Array(texts[1].utf8), &random)), path: "")
    }
  }

  static func mutated(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
    var bytes = bytes
    for _ in 0...Int.random(in: 0...3, using: &random) {
      bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
    }
    if Int.random(in: 0...9, using: &random) == 0 { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
    return bytes
  }
}
