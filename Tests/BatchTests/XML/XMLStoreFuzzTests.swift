import Foundation
import Streams
import Testing

@testable import RunSupport
@testable import StoreImports

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite("Damaged XML stores")
struct XMLStoreFuzzTests {
  private static let whole = XMLTestStore.text(
    """
    <object type="CUSTOMER" id="z1"><attribute name="firstname" type="string">Ann \\u3c00 &amp; Bob</attribute>
    <attribute name="age" type="int16">40</attribute>
    <relationship name="orders" type="0/0" destination="ORDER" idrefs="z3 z2"></relationship></object>
    <object type="ORDER" id="z2"><attribute name="total" type="double">1.5</attribute>
    <relationship name="customer" type="1/1" destination="CUSTOMER" idrefs="z1"></relationship></object>
    <object type="ORDER" id="z3"><relationship name="customer" type="1/1" destination="CUSTOMER" idrefs="z1"/></object>
    """)

  private static let begin = whole.utf8.count - whole.components(separatedBy: "<database>")[1].utf8.count - 10

  @Test("A file that was cut off anywhere is an error, and inspect says so")
  func truncated() throws {
    let store = try XMLTestStore()
    let bytes = Array(Self.whole.utf8)
    try store.write(bytes)
    _ = try store.convert()
    for length in 0..<bytes.count {
      try store.write(Array(bytes[..<length]))
      #expect(throws: BatchError.self, "\(length) bytes") { try store.convert() }
      guard let found = try? XMLStore(store.path).inspect(models: store.library) else { continue }
      #expect(found.problems.contains { $0.contains("cut off") || $0.contains("ends") }, "\(length): \(found.problems)")
    }
  }

  @Test("Entities, other files, other encodings, long names and deep nesting are refused before they cost anything")
  func hostile() throws {
    let store = try XMLTestStore()
    let document = "<!DOCTYPE database SYSTEM \"file:///System/Library/DTDs/CoreData.dtd\">"
    let deep = String(repeating: "<object type=\"CUSTOMER\" id=\"z1\">", count: 200_000)
    for (text, word) in [
      (
        Self.whole.replacing(document, with: "<!DOCTYPE database [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]>"),
        "declares entities"
      ),
      (
        Self.whole.replacing("version=\"1.0\"", with: "version=\"1.0\" encoding=\"UTF-16\"", maxReplacements: 1),
        "another encoding"
      ),
      (XMLTestStore.text(deep), "<object> stands where"),
      (XMLTestStore.text("<" + String(repeating: "a", count: 1 << 20)), "longer than"),
      (XMLTestStore.text("<object type=\"" + String(repeating: "a", count: 1 << 20)), "does not end"),
      (XMLTestStore.text("", hashes: ""), "no version of the model"), (Self.whole + "<a/>", "follows"),
      (Self.whole.replacing("NSStoreModelVersionHashes", with: "Other"), "no version hashes"),
      (Self.whole.replacing("<dict>", with: "<dict><key>a</key>", maxReplacements: 1), "metadata"),
      (Self.whole.replacing("0C5F6F0A", with: "x"), "no UUID"),
    ] {
      let error = try #require(try store.error(text), "\(word)")
      #expect("\(error)".contains(word), "\(word): \(error)")
    }
    try store.write(XMLTestStore.text("<object type=\"CUSTOMER\" id=\"z901\"/>"))
    let found = try XMLStore(store.path).inspect(models: nil)
    #expect(found.problems == ["nextObjectID is 900, and an object has the id z901"])
  }

  /// Foundation's parser is the oracle: what it refuses is no XML.
  private static func isXML(_ bytes: [UInt8]) -> Bool { XMLParser(data: Data(bytes)).parse() }

  @Test("Random changes end with a store or with one error of the file, and nothing is read that is no XML")
  func random() throws {
    let seed = UInt64(ProcessInfo.processInfo.environment["GODWIT_XML_SEED"] ?? "") ?? 28
    let cases = Int(ProcessInfo.processInfo.environment["GODWIT_XML_CASES"] ?? "") ?? 500
    var random = SeededRandom(seed)
    let (store, pieces) = (try XMLTestStore(), ["<", ">", "\"", "&", "/", "z1", "\\u", "\0", "]]>", "<!--", "é", " "])
    for number in 0..<cases {
      var bytes = Array(Self.whole.utf8)
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        // What is declared before the first element is passed over, as long as it declares no entities.
        let place = Int.random(in: Self.begin..<bytes.count, using: &random)
        let end = min(bytes.count, place + Int.random(in: 0...12, using: &random))
        let piece = Array(pieces.randomElement(using: &random)!.utf8)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.removeSubrange(place..<end)
        case 2: bytes.replaceSubrange(place..<end, with: piece)
        default: bytes.insert(contentsOf: bytes[place..<end], at: place)
        }
      }
      try store.write(bytes)
      do {
        _ = try store.convert()
        #expect(Self.isXML(bytes), "case \(number) of seed \(seed): \(String(decoding: bytes, as: UTF8.self))")
      } catch let error as BatchError {
        #expect([.badStore, .refused, .noModel, .mismatch].contains(error.code), "case \(number): \(error)")
      }
      #expect(try store.files().allSatisfy { ["Store.xml", "Store.sqlite"].contains($0) })
    }
  }
}
