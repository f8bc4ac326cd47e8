import Testing

/// Links of a many-to-many whose other end is, for some objects, a sub-entity that the next version does not have.
@Suite("Links to objects of an entity that goes")
struct RemovedLinkTests {
  private static let page =
    #"<entity name="Page"><attribute name="name" optional="YES" attributeType="String"/>"#
    + #"<relationship name="marks" optional="YES" toMany="YES" destinationEntity="Mark" inverseName="pages" "#
    + #"inverseEntity="Mark"/></entity>"#
  private static let mark =
    #"<entity name="Mark"><attribute name="text" optional="YES" attributeType="String"/>"#
    + #"<relationship name="pages" optional="YES" toMany="YES" destinationEntity="Page" inverseName="marks" "#
    + #"inverseEntity="Page"/></entity>"#
  private static let star =
    #"<entity name="Star" parentEntity="Mark"><attribute name="size" optional="YES" attributeType="Integer 16"/>"#
    + "</entity>"

  private func pairs(_ folder: FindingFolder, _ store: String, _ condition: String) throws -> [String] {
    let table = try #require(
      folder.texts(store, "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'Z!_%S' ESCAPE '!'").first)
    let columns = try folder.texts(store, "SELECT name FROM pragma_table_info('\(table)') ORDER BY name")
    let mark = try #require(columns.first { $0.contains("MARKS") })
    let page = try #require(columns.first { $0.contains("PAGES") })
    return try folder.texts(
      store,
      "SELECT l.\(page) || ' ' || l.\(mark) FROM \(table) l JOIN ZMARK m ON m.Z_PK = l.\(mark) "
        + "WHERE \(condition) ORDER BY 1")
  }

  @Test("They go with it, by an inferred step and by a mapping file that removes it; all others stay")
  func removed() throws {
    let (folder, store) = try FindingFolder.entities(
      [Self.page + Self.mark + Self.star, Self.page + Self.mark], rows: 60)
    let star = try #require(folder.texts(store, "SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Star'").first)
    let all = try pairs(folder, store, "1")
    let wanted = try pairs(folder, store, "m.Z_ENT <> \(star)")
    #expect(!wanted.isEmpty && wanted.count < all.count)
    let file = folder.folder.newPath("Step.yaml")
    try "from: V1\nto: V2\nentities: [Page, Mark, { remove: Star }]\n"
      .write(toFile: file, atomically: false, encoding: .utf8)
    for (name, mappings) in [("inferred", []), ("mapped", ["--mappings", file])] {
      let output = folder.file("\(name).sqlite")
      let done = try folder.run(["migrate", store, "--models", folder.models, "--output", output] + mappings)
      #expect(done.code == 0, "\(done)")
      #expect((done.output + done.error).contains("\(all.count - wanted.count) of \(all.count) links"), "\(done)")
      #expect(try pairs(folder, output, "1") == wanted)
      try folder.runWell(["verify", output, "--models", folder.models])
    }
  }
}
