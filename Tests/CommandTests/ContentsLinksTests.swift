import Foundation
import Testing

@Suite("Comparison of what two stores hold: links, whatever numbers their entities have")
struct ContentsLinksTests {
  /// A many-to-many relationship, from one side.
  private static func many(_ name: String, _ destination: String, _ inverse: String) -> String {
    """
    <relationship name="\(name)" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="\(destination)" \
    inverseName="\(inverse)" inverseEntity="\(destination)"/>
    """
  }

  /// Of two relationships all names are the same, and only numbers tell their tables apart.
  private static let entities = """
    <entity name="Book">\(many("tags", "BookTag", "items"))\(many("readers", "Reader", "books"))</entity>\
    <entity name="BookTag">\(many("items", "Book", "tags"))</entity>\
    <entity name="Film">\(many("tags", "FilmTag", "items"))</entity>\
    <entity name="FilmTag">\(many("items", "Film", "tags"))</entity>\
    <entity name="Note"><relationship name="about" optional="YES" maxCount="1" deletionRule="Nullify" \
    destinationEntity="Reader"/></entity>\
    <entity name="Reader">\(many("books", "Book", "readers"))\
    <relationship name="notes" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Note"/></entity>\
    <entity name="Student" parentEntity="Reader"/>
    """

  private static let objects = """
    {"entity":"Book","key":1,"relationships":{"readers":[1,2],"tags":[1]}}
    {"entity":"Book","key":2,"relationships":{"readers":[{"entity":"Student","key":3}]}}
    {"entity":"BookTag","key":1}
    {"entity":"Film","key":1,"relationships":{"tags":[1,2]}}
    {"entity":"FilmTag","key":1}
    {"entity":"FilmTag","key":2}
    {"entity":"Note","key":1,"relationships":{"about":{"entity":"Student","key":3}}}
    {"entity":"Reader","key":1,"relationships":{"notes":[1]}}
    {"entity":"Reader","key":2}
    {"entity":"Student","key":3}
    """

  private let folder: FindingFolder
  private let old: String
  private let new: String

  init() throws {
    folder = try FindingFolder(entities: [Self.entities, "<entity name=\"Author\"/>" + Self.entities])
    old = try folder.imported("old.sqlite", "V1", Self.objects)
    new = try folder.imported("new.sqlite", "V2", Self.objects)
  }

  private func diff(_ words: [String] = []) throws -> String {
    try expectLook(["diff", "--contents", old, new] + words, in: folder.folder)
  }

  @Test("An entity more gives all others new numbers, and is no difference of links, to-ones and to-manys")
  func numbers() throws {
    let text = try diff()
    for line in [
      "no difference\n", "  Z_2READERS: 3 the same\n", "  Z_2TAGS: 1 the same\n", "  Z_4TAGS: 2 the same\n",
      "  Note: 1 the same\n",
      "note: join tables by their names in the old store: Z_2READERS is Z_1READERS, Z_2TAGS is Z_1TAGS, Z_4TAGS is Z_3TAGS\n",
    ] { #expect(text.contains(line), "\(line): \(text)") }
    try folder.execute(new, "DELETE FROM Z_4TAGS WHERE rowid = (SELECT max(rowid) FROM Z_4TAGS)")
    try folder.execute(new, "UPDATE ZNOTE SET ZABOUT = 2, Z7_ABOUT = 7, Z7NOTES = 2")
    let later = try diff()
    for line in [
      "    Reader.notes: 1 -> 2\n", "    about: 3 -> 2\n", "    about@entity: \"Student\" -> \"Reader\"\n",
      "  Z_4TAGS: 1 removed, 1 the same\n",
    ] { #expect(later.contains(line), "\(line): \(later)") }
  }

  @Test(
    "Without models a name without its numbers tells, if it is the only one; of others a note says that it does not")
  func names() throws {
    for store in [old, new] { try folder.folder.forgetModel(of: store) }
    let text = try diff()
    for line in [
      "  Z_2READERS: 3 the same\n", "Z_2READERS is Z_1READERS\n", "  Z_1TAGS: 1 removed\n", "  Z_3TAGS: 2 removed\n",
      "  Z_2TAGS: 1 added\n", "  Z_4TAGS: 2 added\n",
      "note: Z_1TAGS, Z_2TAGS, Z_3TAGS, Z_4TAGS: their names do not say which of them hold the same relationship, so all "
        + "links are listed as removed and added: give --models\n",
    ] { #expect(text.contains(line), "\(line): \(text)") }
    let named = try diff(["--models", folder.models])
    #expect(named.contains("no difference\n") && !named.contains("do not say"), "\(named)")
    // Where the numbers mean the same, so do the names.
    let copy = folder.file("copy.sqlite")
    try FileManager.default.copyItem(atPath: old, toPath: copy)
    let same = try expectLook(["diff", "--contents", old, copy], in: folder.folder)
    #expect(same.contains("  Z_1TAGS: 1 the same\n") && !same.contains("do not say"), "\(same)")
  }

  @Test("Links of a relationship that is its own inverse are compared")
  func reflexive() throws {
    let (store, _) = try ZooModel.store(folder.folder)
    let later = folder.file("Later.sqlite")
    try FileManager.default.copyItem(atPath: store, toPath: later)
    try folder.execute(later, "DELETE FROM Z_5FRIENDS WHERE REFLEXIVE = 3 OR Z_5FRIENDS = 3")
    let text = try expectLook(["diff", "--contents", store, later, "--limit", "0"], in: folder.folder)
    #expect(text.contains("  Z_5FRIENDS: 2 removed, 2 the same\n"), "\(text)")
  }
}
