import Foundation
import Glibc
import Testing

@Suite("Faults that were found: runs that cannot end well")
struct WayOutFindingTests {
  @Test(
    "Finding 10: in place a store that its user may read and not write is refused before anything is written",
    .enabled(
      if: geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0,
      "only root can take a permission from another user, by setpriv"),
    arguments: [(owner: 0 as uid_t, mode: 0o644 as mode_t), (owner: 65534, mode: 0o444)])
  func readOnly(owner: uid_t, mode: mode_t) throws {
    let folder = try FindingFolder()
    let store = try folder.store("b.sqlite")
    #expect(chown(store, owner, owner) == 0 && chmod(store, mode) == 0)
    #expect(chmod(folder.folder.path, 0o777) == 0 && chmod(folder.models, 0o755) == 0)
    let nobody = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    let before = try folder.folder.tree()
    let outcome = try folder.run(folder.migrate(store), launcher: nobody)
    #expect(outcome.code == 20 && outcome.error.contains("may read the store but not replace it"), "\(outcome)")
    #expect(outcome.error.contains("nothing was written"))
    #expect(try folder.folder.tree().filter { !$0.key.isEmpty } == before.filter { !$0.key.isEmpty })
    let elsewhere = try folder.run(folder.migrate(store, output: folder.file("o.sqlite")), launcher: nobody)
    #expect(elsewhere.code == 0, "\(elsewhere)")
  }

  /// An error that comes again: what a model refuses, how it is mended, and what the message says.
  struct Repeating: Sendable, CustomTestStringConvertible {
    var later: String
    var breaks: String
    var mends: String
    var says: String
    /// Is the value computed? What is copied is looked at before the run begins.
    var isComputed = false
    var testDescription: String { says }

    static let all = [
      Repeating(
        later: number("Integer 16"), breaks: "UPDATE ZA SET ZN = 70000 WHERE Z_PK = 2",
        mends: "UPDATE ZA SET ZN = 7 WHERE Z_PK = 2", says: "does not fit"),
      Repeating(
        later: number("Integer 64") + unique, breaks: "UPDATE ZA SET ZN = 1", mends: "UPDATE ZA SET ZN = Z_PK",
        says: "unique",
        isComputed: true),
      Repeating(
        later: number("Integer 32"), breaks: "UPDATE ZA SET Z_ENT = 9 WHERE Z_PK = 2",
        mends: "UPDATE ZA SET Z_ENT = 1 WHERE Z_PK = 2", says: "entity number"),
    ]

    private static let unique =
      "<uniquenessConstraints><uniquenessConstraint><constraint value=\"n\"/></uniquenessConstraint>"
      + "</uniquenessConstraints>"

    static func number(_ type: String) -> String {
      #"<attribute name="n" attributeType="\#(type)" defaultValueString="0" usesScalarValueType="YES"/>"#
    }
  }

  private func words(_ folder: FindingFolder, _ store: String, _ kind: Repeating) throws -> [String] {
    guard kind.isComputed else { return folder.migrate(store) }
    let mapping = folder.folder.newPath("computed.yaml")
    try "from: V1\nto: V2\nentities:\n  - from: A\n    attributes: { n: '$source.n + 0' }\n"
      .write(toFile: mapping, atomically: false, encoding: .utf8)
    return folder.migrate(store) + ["--mappings", mapping]
  }

  private func broken(_ kind: Repeating) throws -> (FindingFolder, String, CommandProcess.Outcome) {
    let folder = try FindingFolder([Repeating.number("Integer 64"), kind.later])
    let store = try folder.sample("s.sqlite")
    try folder.execute(store, "UPDATE ZA SET ZN = Z_PK")
    try folder.execute(store, kind.breaks)
    return (folder, store, try folder.run(words(folder, store, kind)))
  }

  @Test(
    "Finding 15: after an error that will come again nobody is sent to resume; what is named leads on",
    arguments: Repeating.all)
  func comesAgain(kind: Repeating) throws {
    let (folder, store, outcome) = try broken(kind)
    #expect(outcome.code != 0 && outcome.error.contains(kind.says) && !outcome.error.contains("resume"), "\(outcome)")
    let refused = try folder.run(words(folder, store, kind))
    #expect(refused.code == 20 && !refused.error.contains("resume"), "\(refused)")
    let named = try [outcome, refused].map { try #require(FindingFolder.advice($0)) }
    #expect(named.allSatisfy { $0.contains("--restart") }, "\(named)")
    try folder.execute(store, kind.mends)
    try folder.runWell(named[0])
    #expect(try folder.jobs().isEmpty && folder.isStore(store, at: "V2"))
  }

  @Test(
    "Where the mapping file was edited after an error, nobody says that the error would come again; both ways lead on",
    arguments: [0, 1])
  func edited(way: Int) throws {
    let kind = Repeating.all[1]
    let folder = try FindingFolder([Repeating.number("Integer 64"), kind.later])
    let store = try folder.sample("s.sqlite")
    try folder.execute(store, "UPDATE ZA SET ZN = Z_PK")
    let mapping = folder.folder.newPath("map.yaml")
    func write(_ value: String) throws {
      try "from: V1\nto: V2\nentities:\n  - from: A\n    attributes: { n: '\(value)' }\n"
        .write(toFile: mapping, atomically: false, encoding: .utf8)
    }
    try write("$source.n * 0")
    let words = folder.migrate(store) + ["--mappings", mapping]
    #expect(try folder.run(words).code != 0)
    let before = try folder.run(["status", store])
    #expect(before.output.contains("would come again") && !before.output.contains("resume"), "\(before)")
    try write("$source.n + 1")
    let texts = [
      try folder.run(["status", store]).output, try folder.run(["report", store]).output, try folder.run(words).error,
    ]
    for text in texts {
      #expect(!text.contains("come again") && text.contains("its mapping models are other ones now"), "\(text)")
    }
    let advised = texts[2].matches(of: #/`godwit ([^`]+)`/#).map { $0.1.split(separator: " ").map(String.init) }
    #expect(advised.count == 2 && advised[0].contains("--restart") && advised[1].contains("--mappings"), "\(texts)")
    try folder.runWell(advised[way])
    #expect(try folder.jobs().isEmpty && folder.texts(store, "SELECT ZN FROM ZA") == ["2", "3", "4", "5"])
  }

  @Test("Finding 15: a corrected mapping is told how to begin anew with it, and does")
  func corrected() throws {
    let (folder, store, outcome) = try broken(Repeating.all[0])
    #expect(outcome.code == 1, "\(outcome)")
    let mapping = folder.folder.newPath("small.yaml")
    try "from: V1\nto: V2\nentities:\n  - from: A\n    to: A\n    filter: \"n < 100\"\n"
      .write(toFile: mapping, atomically: false, encoding: .utf8)
    let refused = try folder.run(folder.migrate(store) + ["--mappings", mapping, "--drop", "A"])
    let named = try #require(FindingFolder.advice(refused), "\(refused)")
    #expect(refused.code == 20 && named.contains(mapping) && named.contains("--restart"), "\(refused)")
    try folder.runWell(named)
    #expect(try folder.jobs().isEmpty && folder.texts(store, "SELECT ZN FROM ZA") == ["1", "3", "4"])
  }

  @Test("Finding 15: clean --all, which the message names as well, gives such a run up", arguments: Repeating.all)
  func givenUp(kind: Repeating) throws {
    let (folder, store, outcome) = try broken(kind)
    #expect(outcome.error.contains("godwit clean --all \(store)`"), "\(outcome)")
    try folder.runWell(["clean", "--all", store])
    #expect(try folder.jobs().isEmpty && folder.isStore(store, at: "V1"))
  }
}
