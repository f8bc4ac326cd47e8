import Foundation
import Testing

@testable import Codecs
@testable import CoreDataModel
@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations

@Suite("Named objects, folds and arrays of mapping files")
struct RuleFoldTests {
  private static let old: [EntityDescription] = {
    [
      StoreModels.entity(
        "Trip", [("name", .string), ("tags", .transformable)],
        [
          StoreModels.link("points", "Point", "trip", many: true, ordered: true),
          StoreModels.link("owner", "Owner", "trips"),
        ]),
      StoreModels.entity(
        "Point", [("lat", .double), ("lon", .double), ("mark", .string)], [StoreModels.link("trip", "Trip", "points")]),
      StoreModels.entity("Owner", [("name", .string)], [StoreModels.link("trips", "Trip", "owner", many: true)]),
    ]
  }()

  private static let new: [EntityDescription] = {
    [
      StoreModels.entity(
        "Trip",
        [
          ("name", .string), ("length", .double), ("from", .string), ("until", .string), ("marks", .string),
          ("code", .string),
        ],
        [
          StoreModels.link("track", "Track", "trip"), StoreModels.link("owner", "Owner", "trips"),
          StoreModels.link("tags", "Tag", "trips", many: true),
        ]),
      StoreModels.entity(
        "Track", [("code", .string)],
        [
          StoreModels.link("trip", "Trip", "track"),
          StoreModels.link("points", "Point", "track", many: true, ordered: true),
          StoreModels.link("stops", "Stop", "track", many: true),
        ]),
      StoreModels.entity(
        "Stop", [("mark", .string)],
        [StoreModels.link("track", "Track", "stops"), StoreModels.link("sign", "Sign", nil)]),
      StoreModels.entity("Sign", [("text", .string), ("place", .integer16)]),
      StoreModels.entity(
        "Point", [("lat", .double), ("lon", .double), ("mark", .string)], [StoreModels.link("track", "Track", "points")]
      ),
      StoreModels.entity(
        "Owner", [("name", .string), ("id", .uuid)], [StoreModels.link("trips", "Trip", "owner", many: true)]),
      StoreModels.entity("Tag", [("text", .string)], [StoreModels.link("trips", "Trip", "tags", many: true)]),
    ]
  }()

  /// An archive of an array of texts and a number, as NSKeyedArchiver writes it.
  private static func archive(_ texts: [String]) -> String {
    var builder = ArchiveBuilder()
    let members = texts.map { builder.text($0) }
    let root = builder.array(members)
    return hex(builder.bytes(root: root))
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    "x'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
  }

  private func store() throws -> RuleStore {
    let plist = Self.hex(PropertyListWriter.write(.array([.string("red"), .integer(7)])))
    return try RuleStore(
      Self.old, Self.new,
      [
        ("Owner", "Z_PK, ZNAME", "3, 'Ann'"),
        ("Trip", "Z_PK, ZNAME, ZOWNER, ZTAGS", "1, 'one', 3, \(Self.archive(["red", "blue"]))"),
        ("Trip", "Z_PK, ZNAME, ZTAGS", "2, 'two', \(plist)"), ("Trip", "Z_PK, ZNAME", "5, 'none'"),
        // The order is that of the places in Z_FOK_TRIP, not of the keys.
        ("Point", "Z_PK, ZTRIP, Z_FOK_TRIP, ZLAT, ZLON, ZMARK", "1, 1, 3072, 0, 2, 'c'"),
        ("Point", "Z_PK, ZTRIP, Z_FOK_TRIP, ZLAT, ZLON, ZMARK", "2, 1, 1024, 0, 0, 'a'"),
        ("Point", "Z_PK, ZTRIP, Z_FOK_TRIP, ZLAT, ZLON, ZMARK", "3, 1, 2048, 0, 1, NULL"),
        ("Point", "Z_PK, ZTRIP, Z_FOK_TRIP, ZLAT, ZLON, ZMARK", "4, 2, 1024, 5, 5, 'z'"),
      ])
  }

  private static let file = """
      - from: Owner
        attributes: { id: { uuid: repeatable } }
      - Point
      - to: Tag
      - to: Sign
      - from: Trip
        attributes:
          length: { over: $source.points, sum: { distance: [$previous.lat, $previous.lon, $item.lat, $item.lon] } }
          from: { over: $source.points, first: $item.mark }
          until: { over: $source.points, last: $item.mark }
          marks: { over: $source.points, join: $item.mark, with: "," }
          code: { join: [{ destination: $source.owner, attribute: id }, $source.name], with: _ }
        objects:
          - create: Track
            as: track
            when: points.@count > 0
            attributes: { code: { destination: $source.owner, attribute: name } }
            relationships: { trip: $destination, points: $source.points }
          - forEach: $source.points
            when: $item.mark != nil
            as: signs
            create: Sign
            attributes: { text: $item.mark }
          - forEach: $source.points
            when: $item.mark != nil
            create: Stop
            attributes: { mark: { destination: $signs, attribute: text } }
            relationships: { track: $track, sign: $signs }
          - forEach: $source.tags
            findOrCreate: Tag
            by: { text: { cast: $item, to: text } }
            link: tags
    """

  @Test("Folds follow the order of the relationship, names lead to made objects, and arrays become objects")
  func whole() throws {
    let rules = try store()
    let path = try rules.migrated(Self.file)
    let rows = { (sql: String) in try MigrationFolder.rows(path, sql) }
    let id = try rows("SELECT hex(ZID) FROM ZOWNER")[0].dropFirst(8).dropLast(2)
    let text = UUIDText.text(try #require(UInt8.bytes(String(id)))) ?? ""
    #expect(
      try rows("SELECT Z_PK, round(ZLENGTH), ZFROM, ZUNTIL, ZMARKS, ZCODE FROM ZTRIP ORDER BY 1") == [
        "int64(1)|double(222390.0)|string(\"a\")|string(\"c\")|string(\"a,c\")|string(\"\(text)_one\")",
        "int64(2)|double(0.0)|string(\"z\")|string(\"z\")|string(\"z\")|string(\"two\")",
        "int64(5)|double(0.0)|null|null|null|string(\"none\")",
      ])
    let tracks =
      "SELECT t.ZTRIP, group_concat(p.Z_PK) FROM ZTRACK t JOIN (SELECT * FROM ZPOINT ORDER BY Z_FOK_TRACK) p ON p.ZTRACK = t.Z_PK GROUP BY 1"
    #expect(try rows(tracks) == ["int64(1)|string(\"2,3,1\")", "int64(2)|string(\"4\")"])
    #expect(try rows("SELECT ZCODE FROM ZTRACK ORDER BY Z_PK") == ["string(\"Ann\")", "null"])
    let stops =
      "SELECT t.ZTRIP, s.ZMARK, g.ZTEXT FROM ZSTOP s JOIN ZTRACK t ON t.Z_PK = s.ZTRACK JOIN ZSIGN g ON g.Z_PK = s.ZSIGN ORDER BY s.Z_PK"
    #expect(
      try rows(stops) == ["a", "c"].map { "int64(1)|string(\"\($0)\")|string(\"\($0)\")" } + [
        "int64(2)|string(\"z\")|string(\"z\")"
      ])
    #expect(try rows("SELECT ZTEXT FROM ZTAG ORDER BY Z_PK") == ["red", "blue", "7"].map { "string(\"\($0)\")" })
  }

  @Test("I11: a run that is stopped anywhere and resumed, and one on several threads, give the same bytes")
  func resumed() throws {
    let rules = try store()
    let expected = try MigrationFolder.bytes(rules.migrated(Self.file))
    let stops = try rules.folder.stopped(every: 5) { _ in
      try rules.request(Self.file)
    } finished: { path, count in
      let bytes = try MigrationFolder.bytes(path)
      #expect(bytes == expected, "stop \(count)")
    }
    #expect(stops > 2)
    rules.folder.smallStore = 0
    #expect(try MigrationFolder.bytes(rules.migrated(Self.file)) == expected)
  }

  @Test("A check finds nothing wrong with such a file, and a trace shows each rule and what it gives")
  func checkAndTrace() throws {
    let rules = try store()
    let request = try rules.request(Self.file)
    let model = try MappingModelReader.read(path: request.mappings[0])[0]
    let check = MappingFileCheck(model, library: try ModelLibrary(paths: [rules.folder.models]))
    #expect(check.steps == ["A to B"] && check.problems.isEmpty, "\(check.problems)")
    let trace = try rules.folder.job().trace("Trip", key: 1, in: request, values: true)
    let text = String(decoding: try JSONEncoder().encode(trace), as: UTF8.self)
    for wanted in [
      "rule: sum of (a distance in metres) over points", "222390", "rule: join of ($item.mark) over points", "a,c",
      "id of what becomes of $source.owner", "_one", "Sign", "Stop", "Track",
    ] {
      #expect(text.contains(wanted), "\(wanted): \(text)")
    }
    let id = try MigrationFolder.rows(rules.migrated(Self.file), "SELECT ZCODE FROM ZTRIP WHERE Z_PK = 1")
    #expect(text.contains(String(id[0].dropFirst(8).dropLast(2))), "\(id): \(text)")
  }

  @Test("An array that cannot be read is reported by key: bytes that are no archive, other classes, damaged archives")
  func damagedArrays() throws {
    let rules = try store()
    let map = Self.hex(PropertyListWriter.write(.array([.array([])])))
    for (bytes, text) in [
      ("x'00'", "tags is neither a keyed archive nor a property list"), (map, "tags has an element that is no text"),
      ("'text'", "tags holds no archive"),
    ] {
      try MigrationFolder.execute(rules.store, "UPDATE ZTRIP SET ZTAGS = \(bytes) WHERE Z_PK = 2")
      let found = try rules.failure(Self.file)
      #expect(found.contains("Trip 2: \(text)"), "\(found)")
    }
    let whole = Self.archive(["red", "blue"]).dropFirst(2).dropLast()
    for place in stride(from: 0, to: whole.count - 2, by: 10) {
      let start = whole.index(whole.startIndex, offsetBy: place)
      let damaged = whole.replacingCharacters(in: start..<whole.index(start, offsetBy: 2), with: "f3")
      guard let bytes = UInt8.bytes(damaged) else { continue }
      _ = try? ArrayElements.values(.blob(bytes), isExternal: false)
    }
  }

  @Test(
    "What names and folds do not take is refused with what to write",
    arguments: [
      (
        "attributes: { marks: { over: $source.name, join: $item } }",
        "name of Trip is an attribute of the type string, and no array"
      ),
      ("attributes: { marks: { over: $source.points } }", "over needs one of first, last, sum and join"),
      ("attributes: { marks: $item.mark }", "$item"),
      (
        "attributes: { code: { destination: $source.points, attribute: mark } }",
        "points of Trip leads to several objects"
      ),
      ("attributes: { code: { destination: $source.owner, attribute: nam } }", "did you mean name?"),
      ("objects: [{ create: Stop, relationships: { track: $track } }]", "no earlier rule makes an object as track"),
      ("objects: [{ create: Track, as: source }]", "as has to be a word"),
      (
        "objects: [{ create: Sign, as: s, forEach: $source.points }, { create: Stop, relationships: { sign: $s } }]",
        "write the same forEach here"
      ),
      ("objects: [{ forEach: $source.nothing, create: Tag }]", "Trip has no relationship or array nothing"),
    ])
  func refused(lines: String, wanted: String) throws {
    let rules = try store()
    let found = try rules.failure("  - Point\n  - Owner\n  - from: Trip\n    \(lines)")
    #expect(found.contains(wanted), "\(found)")
  }
}

extension UInt8 {
  /// The bytes of hexadecimal digits.
  fileprivate static func bytes(_ digits: String) -> [UInt8]? {
    let all = Array(digits.utf8).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard all.count == digits.utf8.count, all.count % 2 == 0 else { return nil }
    return stride(from: 0, to: all.count, by: 2).map { UInt8(all[$0] << 4 | all[$0 + 1]) }
  }
}
