import Foundation
import GRDB
import Testing

@testable import BatchCommand

@Suite("The command that a list prints leads on, from wherever its stores are", .serialized)
struct ListRemedyTests {
  private static let plain = ExampleFolder.root + "/Benchmarks/Models/Plain.xcdatamodeld"

  /// Stores whose objects cannot all be migrated by the mapping file: 20 of 1,025.
  private struct Rejecting {
    let library: RejectingLibrary
    let stores: [String]
    let list: String
    let words: [String]

    init(_ count: Int) throws {
      library = try RejectingLibrary()
      let (folder, first) = (library.folder, library.store)
      stores = [first] + (1..<count).map { folder.file("S\($0).sqlite") }
      for store in stores.dropFirst() { try FileManager.default.copyItem(atPath: first, toPath: store) }
      list = try folder.list(stores)
      let mapping = try library.mapping(book: String(RejectingLibrary.rejectedBooks.dropFirst(2)))
      words = ["--to", "Library 2"] + library.words(mapping)
    }

    func run(_ words: [String]) throws -> CommandProcess.Outcome {
      try library.folder.run("godwit", words + ["--manifest", list])
    }

    func document(_ words: [String]) throws -> ListDocument { try ListDocument(run(words + ["--json"])) }

    func mend() throws {
      for store in stores {
        let queue = try DatabaseQueue(path: store)
        try queue.write { try $0.execute(sql: "UPDATE ZBOOK SET ZTITLE = '1'") }
        try queue.close()
      }
    }
  }

  @Test("The way back that the text names is the group's command, and goes to its end")
  func goingBack() throws {
    let folder = try CommandFolder()
    let stores = ["A.sqlite", "B.sqlite"].map { folder.file($0) }
    for store in stores {
      let words = ["sample", Self.plain, "--version", "Plain 2", "--rows", "60", "--output", store]
      #expect(try folder.run("godwit", words).code == 0)
    }
    let list = try folder.list(stores + [folder.file("none.sqlite")])
    let words = ["migrate", "--manifest", list, "--models", Self.plain, "--to", "Plain 1", "--max-rejects", "50%"]
    let refused = try folder.run("godwit", words)
    #expect(refused.code == 64 && refused.output.contains("To go back all the same: "), "\(refused)")
    let line = try #require(refused.output.firstMatch(of: /to continue: (.* --versions 'Plain 2,Plain 1')\n/)?.1)
    #expect(line.contains("--max-rejects 50%") && line.contains("sed -n '1,2p'"), "\(line)")
    let done = try folder.paste(String(line))
    #expect([0, 10].contains(done.code) && done.output.contains("2 migrated"), "\(done)")
  }

  @Test("A store that never began keeps the command that migrates it, with what resume has chosen since")
  func neverBegan() throws {
    let folder = try CommandFolder()
    let (there, late) = (try folder.sample("There.sqlite", rows: 30), folder.file("Late.sqlite"))
    let list = try folder.list([there, late])
    #expect(try folder.run("book-migration", ["migrate", "--manifest", list] + CommandFolder.models).code == 64)
    let words = ["resume", "--manifest", list, "--max-rejects", "5%", "--json"]
    let resumed = try ListDocument(folder.run("book-migration", words))
    #expect(resumed.code == 64 && resumed.states == ["nothing to resume", "no such file"], "\(resumed)")
    let known = try ListDocument(folder.run("book-migration", ["status", "--manifest", list, "--json"]))
    for found in [resumed, known] {
      let next = try #require(found.groups.first { $0.exitCode == 64 }?.next)
      #expect(next.contains(" migrate --manifest - --models ") && next.hasSuffix(" --max-rejects 5%"), "\(next)")
    }
    _ = try folder.sample("Late.sqlite", rows: 30)
    let done = try folder.paste(try #require(known.groups.first { $0.exitCode == 64 }?.next))
    #expect(done.code == 0 && done.output.contains("1 store: 1 migrated"), "\(done)")
  }

  @Test("What only says that something is to be corrected first is not called a way to continue")
  func correction() throws {
    let stores = try Rejecting(1)
    let over = try stores.run(["migrate", "--max-rejects", "5"] + stores.words)
    let line = try #require(over.output.firstMatch(of: /after a correction: (.* --restart)\n/)?.1, "\(over)")
    try stores.mend()
    let done = try stores.library.folder.paste(String(line))
    #expect(done.code == 0 && done.output.contains("1 store: 1 migrated"), "\(done)")
  }

  @Test("A run that is started over has the latest limit of rejects, for one store and in a list")
  func latestLimit() throws {
    let stores = try Rejecting(2)
    let folder = stores.library.folder
    #expect(try stores.run(["migrate", "--max-rejects", "5"] + stores.words).code == 11)
    for (limit, most) in [("7", 7), ("1%", 10)] {
      let over = try stores.document(["resume", "--max-rejects", limit])
      #expect(over.code == 11 && over.stores[0].error?.contains("more than \(most) objects") == true, "\(over)")
      for words in [["status"], ["report"]] {
        let next = try #require(try stores.document(words).groups[0].next)
        #expect(next.contains("--max-rejects \(limit) ") || next.hasSuffix("--max-rejects \(limit)"), "\(next)")
        let alone = try folder.run("godwit", words + [stores.stores[0]]).output
        #expect(alone.contains("--max-rejects \(limit) --restart`"), "\(alone)")
      }
    }
    try stores.mend()
    let next = try #require(try stores.document(["status"]).groups[0].next)
    let done = try folder.paste(next)
    #expect(done.code == 0 && done.output.contains("2 stores: 2 migrated"), "\(done)")
  }

  @Test("A group's text names a path, so that each command in it can be pasted")
  func paths() throws {
    for count in [1, 2] {
      let stores = try Rejecting(count)
      let over = try stores.run(["migrate", "--max-rejects", "5"] + stores.words)
      #expect(over.code == 11 && over.output.contains("  for the first: ") == (count > 1), "\(over)")
      for words in [[], ["status"], ["report"]] {
        let text = words.isEmpty ? over.output : try stores.run(words).output
        let spans = text.matches(of: /`([^`]+)`/).map { String($0.1) }
        #expect(spans.count > 1 && spans.allSatisfy { !$0.contains("STORE") }, "\(text)")
        #expect(text.contains("\(stores.library.folder.path)/.Library.sqlite.godwit/step-rejects.jsonl"), "\(text)")
      }
      let more = try #require(over.output.firstMatch(of: /`(godwit resume [^`]* --max-rejects )[0-9]+`/)?.1)
      let done = try stores.library.folder.paste(more + "50")
      #expect(done.code == 10 && done.output.contains("\(stores.stores[0]): version Library 2"), "\(done)")
    }
  }

  @Test("What ended a run has one name and one code in migrate, resume, status and report of a list")
  func oneName() throws {
    let stores = try Rejecting(2)
    var found = [try stores.document(["migrate", "--max-rejects", "5"] + stores.words)]
    for words in [["status", "--check"], ["report"], ["resume"], ["status", "--check"]] {
      found.append(try stores.document(words))
    }
    for document in found {
      #expect(document.code == 11 && document.states == ["too many rejects", "too many rejects"], "\(document)")
      #expect(document.groups.map(\.exitCode) == [11], "\(document)")
    }
    #expect(try stores.library.folder.run("godwit", ["status", "--check", stores.stores[0]]).code == 11)
  }
}
