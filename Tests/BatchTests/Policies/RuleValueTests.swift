import Foundation
import Testing

@testable import Codecs
@testable import CoreDataModel
@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations

@Suite("UUIDs, dates and constants of mapping files")
struct RuleValueTests {
  private let rules: RuleStore
  private static let text = "6F9619FF-8B86-D011-B42D-00C04FC964FF"

  init() throws {
    var file = AttributeDescription(name: "file", type: .binaryData)
    file.allowsExternalBinaryDataStorage = true
    var new = StoreModels.entity(
      "Post",
      [
        ("id", .uuid), ("other", .uuid), ("link", .uri), ("data", .binaryData), ("at", .date), ("day", .date),
        ("since", .double), ("millis", .integer64), ("label", .string), ("words", .string),
      ])
    new.attributes.append(file)
    rules = try RuleStore(
      [StoreModels.entity("Post", [("t", .integer64), ("day", .date), ("word", .string), ("key", .uuid)])],
      [new, StoreModels.entity("Part", [("id", .uuid), ("word", .string)])],
      [
        (
          "Post", "Z_PK, ZT, ZDAY, ZWORD, ZKEY",
          "1, 1609459200123, 0.25, 'https://a.b/c', x'\(Self.text.replacing("-", with: ""))'"
        ),
        (
          "Post", "Z_PK, ZT, ZDAY, ZWORD, ZKEY",
          "4, -1, -86400, '\(Self.text.lowercased())', x'\(String(repeating: "ab", count: 16))'"
        ),
        ("Post", "Z_PK, ZT, ZDAY, ZWORD, ZKEY", "7, NULL, NULL, NULL, NULL"),
      ])
  }

  private static let all = """
        id: { uuid: repeatable }
        other: { uuid: \(text) }
        link: { uri: "https://example.org/x" }
        data: { binary: AAEC }
        file: { binary: AAEC }
        at: { date: $source.t, epoch: unix, unit: ms }
        day: { date: 2001-01-02T00:00:00.5Z }
        since: { number: $source.day, epoch: unix, unit: s }
        millis: { number: $source.day, epoch: unix, unit: ms }
        label: { join: [{ text: $source.day, format: "yyyy-MM-dd HH:mm:ss.SSS", zone: "+01:00" }, $source.key], with: "/" }
        words: { cast: $source.key, to: text }
    """

  private func post(_ attributes: String, _ more: String = "") -> String {
    "  - from: Post\n    attributes:\n\(attributes.split(separator: "\n").map { "  \($0)\n" }.joined())\(more)"
  }

  private static let columns =
    "SELECT hex(ZID), hex(ZOTHER), ZLINK, hex(ZDATA), hex(ZFILE), ZAT, ZDAY, ZSINCE, ZMILLIS, ZLABEL, ZWORDS FROM ZPOST ORDER BY Z_PK"

  @Test("Each form gives what it says, and NULL stays NULL")
  func values() throws {
    let path = try rules.migrated(post(Self.all))
    let rows = try MigrationFolder.rows(path, Self.columns).map {
      $0.replacing("string", with: "").replacing("int64", with: "")
    }
    let same = "(\"\(Self.text.replacing("-", with: ""))\")|(\"https://example.org/x\")|(\"000102\")|(\"01000102\")"
    #expect(
      rows[0].hasSuffix(
        "\(same)|double(631152000.123)|double(86400.5)|double(978307200.25)|(978307200250)|(\"2001-01-01 01:00:00.250/\(Self.text)\")|(\"\(Self.text)\")"
      ), "\(rows[0])")
    #expect(
      rows[1].contains(
        "|double(-978307200.001)|double(86400.5)|double(978220800.0)|(978220800000)|(\"2000-12-31 01:00:00.000/ABABABAB"
      ), "\(rows[1])")
    #expect(rows[2].hasSuffix("|null|double(86400.5)|null|null|null|null"), "\(rows[2])")
  }

  @Test(
    "Repeatable UUIDs are those of version 5 for a name that applications can make, and those of further objects are others"
  )
  func repeatable() throws {
    let path = try rules.migrated(
      post(
        "      id: { uuid: repeatable }\n      other: { uuid: repeatable, name: cover }",
        "    objects: [{ create: Part, attributes: { id: { uuid: repeatable } } }]"))
    let store = try rules.uuid()
    func named(_ name: String) -> String {
      let uuid = UUIDText.named(Array(name.utf8), in: UUIDText.bytes(store) ?? [])
      return "string(\"\(uuid.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined())\")"
    }
    let wanted = [1, 4, 7].map { named("Post/p\($0)") + "|" + named("Post/p\($0)/cover") }
    #expect(try MigrationFolder.rows(path, "SELECT hex(ZID), hex(ZOTHER) FROM ZPOST ORDER BY Z_PK") == wanted)
    let parts = [1, 4, 7].map { named("Post/p\($0)/Part") }
    #expect(try MigrationFolder.rows(path, "SELECT hex(ZID) FROM ZPART ORDER BY Z_PK") == parts)
    let part = "{ create: Part, attributes: { id: { uuid: repeatable } } }"
    let twice = try rules.failure(post("      label: null", "    objects: [\(part), \(part)]"))
    #expect(twice.contains("two objects of Part would get the same UUID in id"), "\(twice)")
    // The example of RFC 9562, appendix A.4.
    let dns = try #require(UUIDText.bytes("6ba7b810-9dad-11d1-80b4-00c04fd430c8"))
    #expect(
      UUIDText.text(UUIDText.named(Array("www.example.com".utf8), in: dns)) == "2ED6657D-E927-568B-95E1-2665A8AEA6A2")
  }

  @Test("A text becomes a UUID or a URI, and a text that is none is reported by key")
  func texts() throws {
    let path = try rules.migrated(
      "  - from: Post\n    filter: t == nil OR t < 0\n    attributes: { id: { cast: $source.word, to: uuid } }")
    #expect(
      try MigrationFolder.rows(path, "SELECT hex(ZID) FROM ZPOST ORDER BY Z_PK")
        == ["string(\"\(Self.text.replacing("-", with: ""))\")", "string(\"\")"])
    #expect(
      try rules.failure(post("      id: { cast: $source.word, to: uuid }")).contains(
        "Post 1: id: a value cannot be cast to uuid"))
    let link = try rules.migrated(post("      link: { cast: $source.word, to: uri }"))
    #expect(try MigrationFolder.rows(link, "SELECT ZLINK FROM ZPOST WHERE Z_PK = 1") == ["string(\"https://a.b/c\")"])
  }

  @Test("I8: values of the row alone are the same bytes with an object and without, on one thread and on more")
  func sameBytes() throws {
    let small = try MigrationFolder.bytes(rules.migrated(post(Self.all)))
    let object = "    objects: [{ create: Part, when: FALSEPREDICATE }]"
    #expect(try MigrationFolder.bytes(rules.migrated(post(Self.all, object))) == small)
    rules.folder.smallStore = 0
    #expect(try MigrationFolder.bytes(rules.migrated(post(Self.all))) == small)
  }

  @Test("Random UUIDs follow from the run: one that is stopped and resumed gives each object the one that it had")
  func random() throws {
    let text = post("      id: { uuid: random }")
    var token: String?
    let stops = try rules.folder.stopped(every: 3) { _ in
      try rules.request(text)
    } then: { request in
      let plan = try Data(contentsOf: URL(fileURLWithPath: JobDirectory(destination: request.source).plan))
      token = (try JSONSerialization.jsonObject(with: plan) as? [String: Any])?["token"] as? String
    } finished: { path, _ in
      defer { token = nil }
      let found = try MigrationFolder.rows(path, "SELECT hex(ZID) FROM ZPOST")
      #expect(Set(found).count == 3)
      guard let token else { return }
      let parts = [
        try rules.uuid(), try rules.folder.model("A").versionChecksum, "[0]", "Post", "id",
        "run \(token)",
      ]
      guard case .blob(let bytes) = DerivedUUID.value(parts, keys: [1]) else { return }
      #expect(found[0].contains(UUIDText.text(bytes)?.replacing("-", with: "") ?? "?"))
    }
    #expect(stops > 0)
    let other = try MigrationFolder.rows(rules.migrated(text), "SELECT hex(ZID) FROM ZPOST")
    #expect(try other != MigrationFolder.rows(rules.migrated(text), "SELECT hex(ZID) FROM ZPOST"))
  }

  @Test(
    "What a form does not take is refused with what to write",
    arguments: [
      ("id: { uuid: $source.word }", "{ cast: $source.NAME, to: uuid }"),
      ("label: { uuid: repeatable }", "{ cast: { uuid: … }, to: text }"),
      ("label: { if: t > 0, then: $source.key, else: $source.key }", "gives a UUID, and its type is string"),
      ("label: $source.key", "needs a value expression"),
      ("label: $source.key", "label: { cast: $source.key, to: text }"),
      ("link: { uri: no colon }", "uri has to be a constant"), ("data: { binary: a_b }", "in base64"),
      ("at: { date: $source.t, epoch: unix }", "needs epoch and unit"),
      ("at: { date: $source.t, epoch: mars, unit: s }", "Allowed are unix, 2001"),
      ("at: { date: $source.t, epoch: unix, unit: d }", "Allowed are s, ms, us, ns"),
      ("at: { date: $source.t, epoch: unix, unit: s, format: yyyy }", "format and zone for texts, or epoch and unit"),
      ("at: $source.t", "{ date: $source.NAME, epoch: unix, unit: ms }"),
      ("label: { text: $source.day }", "text needs format"),
      ("id: { uuid: random, name: x }", "name goes with uuid: repeatable"),
    ])
  func refused(attribute: String, wanted: String) throws {
    let found = try rules.failure(post("      " + attribute))
    #expect(found.contains(wanted), "\(found)")
  }
}
