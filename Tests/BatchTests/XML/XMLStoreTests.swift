import Foundation
import Streams
import Testing

@testable import RunSupport
@testable import StoreImports

@Suite("Reading XML stores")
struct XMLStoreTests {
  @Test("Names come from the model, keys from ids, nil from what is missing; both sides and their order are kept")
  func content() throws {
    let store = try XMLTestStore()
    try store.write(
      XMLTestStore.text(
        """
        <!-- written by hand -->
        <object type="ORDER" id="z104"><attribute name="total" type="double"> 2.50000000000000000000 </attribute>
        <relationship name="customer" type="1/1" destination="CUSTOMER" idrefs="z102"></relationship></object>
        <object id='z102' type='CUSTOMER'><attribute type="string" name="firstname">Ann</attribute>
        <attribute name="age" type="int16">-7</attribute><attribute name="photo" type="binary">
          QUJD
          RA==</attribute>
        <relationship name="orders" type="0/0" destination="ORDER" idrefs="z106 z104"/></object>
        <object type="ORDER" id="z106"><relationship name="customer" type="1/1" destination="CUSTOMER"/></object>
        <object type="CUSTOMER" id="z103"/>
        """))
    let made = try store.convert()
    #expect(made.version == "Shop" && made.rows == ["Customer": 2, "Order": 2])
    let text = try store.exported()
    #expect(text.contains(#""key":102,"uri":"x-coredata://0C5F6F0A-0C8E-4B0E-9F63-3D1B7C9A2E41/Customer/p102""#))
    #expect(
      text.contains(#"{"age":-7,"firstName":"Ann","photo":"QUJDRA=="},"relationships":{"orders":[106,104]}"#), "\(text)"
    )
    #expect(text.contains(#"{"age":null,"firstName":null,"photo":null},"relationships":{"orders":[]}"#), "\(text)")
    #expect(text.contains(#""key":106"#) && text.contains(#"{"total":2.5}"#), "\(text)")
    #expect(try store.files() == ["Store.sqlite", "Store.xml"])
  }

  @Test("Characters that XML cannot hold, entities, line ends and backslashes in strings")
  func characters() throws {
    for (text, wanted) in [
      (#"a\u3c00b\u3e00 \u2600 \\ c"#, #"a<b> & \\ c"#), (#"\u3dd8\u00de"#, "😀"), (#"C:\dir\ux"#, #"C:\\dir\\ux"#),
      ("&lt;&amp;&quot;&apos;&gt;&#65;&#x1F600;", #"<&\"'>A😀"#), ("a\r\nb\rc", #"a\nb\nc"#), (#"\u0100"#, #"\u0001"#),
      ("", ""),
      (#"\\u3c00"#, #"\\u3c00"#), ("⨀ ünï", "⨀ ünï"),
    ] {
      let store = try XMLTestStore()
      try store.write(XMLTestStore.text(Self.named(text)))
      _ = try store.convert()
      let exported = try store.exported()
      #expect(exported.contains("\"firstName\":\"\(wanted)\""), "\(text): \(exported)")
    }
  }

  private static func named(_ text: String) -> String {
    "<object type=\"CUSTOMER\" id=\"z1\"><attribute name=\"firstname\" type=\"string\">\(text)</attribute></object>"
  }

  @Test("What is wrong is one error with file, line and object, and nothing is left", arguments: wrong)
  func damage(objects: String, line: Int, words: [String]) throws {
    let store = try XMLTestStore()
    let error = try #require(try store.error(XMLTestStore.text(objects)), "\(objects)")
    #expect(error.code == .badStore || error.code == .refused, "\(error)")
    #expect("\(error)".hasPrefix("\(store.path): ") && "\(error)".contains("line \(line): "), "\(error)")
    for word in words { #expect("\(error)".contains(word), "\(error)") }
    #expect(error.hint != nil && error.effect == .nothingWritten && error.exitCode != 1)
    #expect(try store.files() == ["Store.xml"])
  }

  private static func customer(_ inside: String) -> String {
    "<object type=\"CUSTOMER\" id=\"z5\">\n\(inside)</object>"
  }

  static let wrong: [(String, Int, [String])] = [
    ("<object type=\"CLIENT\" id=\"z5\"/>", 6, ["object z5", "CLIENT"]),
    ("<object type=\"CUSTOMER\" id=\"5\"/>", 6, ["the id 5"]),
    ("<object type=\"CUSTOMER\" id=\"z0\"/>", 6, ["the id z0"]),
    ("<object type=\"CUSTOMER\" id=\"z05\"/>", 6, ["z05"]),
    ("<object type=\"CUSTOMER\" id=\"z99999999999999999999\"/>", 6, ["z99999999999999999999"]),
    ("<object type=\"CUSTOMER\"/>", 6, ["no id"]),
    (
      "<object type=\"CUSTOMER\" id=\"z5\"/>\n<object type=\"ORDER\" id=\"z5\"/>", 7,
      ["two objects have the id z5", "line 6"]
    ),
    (customer("<attribute name=\"nick\" type=\"string\">x</attribute>"), 7, ["object z5", "nick in lower case"]),
    (customer("<attribute name=\"age\" type=\"int32\">1</attribute>"), 7, ["age is of type int32", "integer16"]),
    (customer("<attribute name=\"age\" type=\"int16\">70000</attribute>"), 7, ["age is of type", "no such value"]),
    (customer("<attribute name=\"age\" type=\"int16\"></attribute>"), 7, ["no such value"]),
    (customer("<attribute name=\"age\" type=\"int16\">1 2</attribute>"), 7, ["no such value"]),
    (
      "<object type=\"ORDER\" id=\"z5\"><attribute name=\"total\" type=\"double\">1 2</attribute></object>", 6,
      ["total", "no such value"]
    ),
    (
      "<object type=\"ORDER\" id=\"z5\"><attribute name=\"total\" type=\"double\">0x1F</attribute></object>", 6,
      ["total", "no such value"]
    ),
    (customer("<attribute name=\"photo\" type=\"binary\">%%%</attribute>"), 7, ["photo"]),
    (
      customer(
        "<attribute name=\"age\" type=\"int16\">1</attribute><attribute name=\"age\" type=\"int16\">1</attribute>"), 7,
      ["twice"]
    ),
    (
      customer("<attribute name=\"firstname\" type=\"string\">&bomb;</attribute>"), 7,
      ["firstName", "does not declare"]
    ),
    (customer("<attribute name=\"firstname\" type=\"string\">\u{1}</attribute>"), 7, ["control character"]),
    (customer("<attribute name=\"firstname\" type=\"string\">&#0;</attribute>"), 7, ["does not exist"]),
    (customer("<attribute name=\"firstname\" type=\"string\">\\u3dd8</attribute>"), 7, ["half of a character"]),
    (customer("<attribute name=\"firstname\" type=\"string\"><b/></attribute>"), 7, ["</attribute is expected"]),
    (
      customer("<relationship name=\"orders\" type=\"0/0\" destination=\"ORDER\" idrefs=\"z7\"/>"), 7,
      ["Customer", "orders leads to z7"]
    ),
    (customer("<relationship name=\"orders\" idrefs=\"z5\"/>"), 7, ["of Customer and not of Order"]),
    (customer("<relationship name=\"orders\" idrefs=\"q5\"/>"), 7, ["idrefs"]),
    (customer("<relationship name=\"orders\" idrefs=\"z99999999999999999999\"/>"), 7, ["idrefs"]),
    (customer("<relationship idrefs=\"z5\" name=\"orders\"/>"), 7, ["no name before"]),
    (customer("<object type=\"CUSTOMER\" id=\"z6\"/>"), 7, ["<object> stands where"]),
    (customer("text"), 7, ["between two elements"]),
    (
      "<object type=\"ORDER\" id=\"z5\"><relationship name=\"customer\" idrefs=\"z6 z6\"/></object>", 6,
      ["names several"]
    ),
    ("<!ENTITY a \"b\">", 6, ["declaration"]), ("<?x y?>", 6, ["no name"]), ("</database>", 7, ["follows"]),
  ]

  @Test("Two sides that contradict each other, and objects that are too large, are errors with the line")
  func contradictions() throws {
    let store = try XMLTestStore()
    let error = try store.error(
      XMLTestStore.text(
        """
        <object type="CUSTOMER" id="z1"><relationship name="orders" idrefs="z3"/></object>
        <object type="CUSTOMER" id="z2"/>
        <object type="ORDER" id="z3"><relationship name="customer" idrefs="z2"/></object>
        """))
    #expect("\(try #require(error))".contains("lead to different objects"), "\(error.debugDescription)")
    #expect(error?.path == store.path)
    let large = Self.named(String(repeating: "x", count: 5 << 20))
    let refused = try #require(try store.error(XMLTestStore.text(large)))
    #expect(
      refused.code == .refused && "\(refused)".contains("line 6: object z1: firstName has more than"), "\(refused)")
    #expect(try store.error(XMLTestStore.text(large), memory: MemoryBudget(total: 256 << 20)) == nil)
  }
}
