import Foundation
import Streams
import Testing

@testable import MigrationJobs
@testable import Migrations

/// Inferred steps behind each other: past the versions between, or version by version.
@Suite("Faults that were found: what a version between has not")
struct PathFindingTests {
  private static let title = #"<attribute name="title" optional="YES" attributeType="String"/>"#
  private static let new = text("new")

  private static func text(_ name: String, was: String? = nil) -> String {
    #"<attribute name="\#(name)" optional="YES" attributeType="String"\#(was.map { #" elementID="\#($0)""# } ?? "")/>"#
  }

  private static func entity(_ name: String, _ contents: String, was: String? = nil) -> String {
    #"<entity name="\#(name)" representedClassName="\#(name)" syncable="YES"\#(was.map { #" elementID="\#($0)""# } ?? "")>"#
      + contents + "</entity>"
  }

  private static func link(_ name: String, _ entity: String, _ inverse: String, many: Bool) -> String {
    #"<relationship name="\#(name)" optional="YES" \#(many ? #"toMany="YES""# : #"maxCount="1""#) deletionRule="Nullify" "#
      + #"destinationEntity="\#(entity)" inverseName="\#(inverse)" inverseEntity="\#(entity)"/>"#
  }

  /// What a store of V1 is after its migration, and the notes, by the options: none, each with `--no-fuse` beside it.
  private func results(_ versions: [String], _ sql: [String], change: String? = nil) throws -> [String: Result] {
    let (folder, store) = try FindingFolder.entities(versions, rows: 30)
    if let change { try folder.execute(store, change) }
    let before = try folder.texts(store, sql[0])
    var found: [String: Result] = [:]
    for path in ["", "direct", "stepwise"] {
      let words = ["--models", folder.models] + (path.isEmpty ? [] : ["--path", path])
      let plan = try folder.run(["plan", store] + words)
      let outputs = try [[], ["--no-fuse"]].enumerated().map { number, more in
        let output = folder.file("o\(path)\(number).sqlite")
        try folder.runWell(["migrate", store, "--output", output] + words + more)
        try folder.runWell(["verify", output, "--models", folder.models])
        return try folder.texts(output, sql[sql.count - 1])
      }
      #expect(outputs[0] == outputs[1], "\(path)")
      found[path] = Result(before: before, after: outputs[0], plan: plan.output)
    }
    return found
  }

  private struct Result {
    let before: [String]
    let after: [String]
    let plan: String
    var isKept: Bool { !before.isEmpty && before == after }
  }

  @Test("Finding A5: a property that goes and comes back keeps its values; plan names it; --path chooses")
  func comesBack() throws {
    let results = try results(
      [
        Self.entity("Book", Self.title + Self.text("pages")), Self.entity("Book", Self.title),
        Self.entity("Book", Self.title + Self.text("pages") + Self.new),
      ], ["SELECT Z_PK || ZPAGES FROM ZBOOK WHERE ZPAGES IS NOT NULL ORDER BY Z_PK"])
    let (best, direct, stepwise) = (
      try #require(results[""]), try #require(results["direct"]), try #require(results["stepwise"])
    )
    #expect(best.isKept && direct.isKept && !stepwise.before.isEmpty && stepwise.after.isEmpty)
    let way = "note: V1 to V3: Book.pages is inferred directly, from Book.pages (step by step: without a value)"
    #expect(best.plan.contains(way) && direct.plan.contains(way), "\(best.plan)")
    let other =
      "V1 to V3: Book.pages is inferred step by step, without a value (directly: from Book.pages, which is lost)"
    #expect(stepwise.plan.contains(other) && stepwise.plan.contains("values of Book.pages"), "\(stepwise.plan)")
  }

  @Test("Finding A5: a name whose renaming identifier is gone in a later version is followed step by step")
  func renamed() throws {
    let results = try results(
      [
        Self.entity("Book", Self.title + Self.text("name")),
        Self.entity("Book", Self.title + Self.text("label", was: "name")),
        Self.entity("Book", Self.title + Self.text("label")),
        Self.entity("Book", Self.title + Self.text("tag", was: "label")),
      ],
      [
        "SELECT Z_PK || ZNAME FROM ZBOOK WHERE ZNAME IS NOT NULL ORDER BY 1",
        "SELECT Z_PK || ZTAG FROM ZBOOK WHERE ZTAG IS NOT NULL ORDER BY 1",
      ])
    #expect(results[""]?.isKept == true && results["stepwise"]?.isKept == true && results["direct"]?.after == [])
    #expect(
      results[""]?.plan.contains("Book.tag is inferred step by step, from Book.name (directly: without a value)")
        == true)
    let loss = "Book.tag is inferred directly, without a value (step by step: from Book.name, which is lost)"
    #expect(results["direct"]?.plan.contains(loss) == true)
  }

  @Test("Finding A5: where each way keeps what the other loses, one step keeps both")
  func both() throws {
    let other = Self.entity("Page", Self.text("word") + Self.link("books", "Book", "marked", many: true))
    let results = try results(
      [
        Self.entity("Book", Self.text("pages") + Self.text("name") + Self.link("marked", "Page", "books", many: true))
          + other,
        Self.entity("Book", Self.text("label", was: "name")) + Self.entity("Page", Self.text("word")),
        Self.entity("Book", Self.text("pages") + Self.text("label") + Self.link("marked", "Page", "books", many: true))
          + other,
      ],
      ["NAME", "LABEL"].map { column in
        "SELECT Z_PK || coalesce(Z\(column), '-') || coalesce(ZPAGES, '-') || (SELECT coalesce(group_concat(k), '') FROM "
          + "(SELECT Z_2MARKED AS k FROM Z_1MARKED WHERE Z_1BOOKS = ZBOOK.Z_PK ORDER BY 1)) FROM ZBOOK ORDER BY Z_PK"
      })
    #expect(results[""]?.isKept == true && results["direct"]?.isKept == false && results["stepwise"]?.isKept == false)
    let plan = results[""]?.plan ?? ""
    #expect(
      plan.contains("step 1: V1 to V3, inferred") && !plan.contains("step 2") && !plan.contains("drops"), "\(plan)")
    for name in [
      "Book.label is inferred step by step", "Book.pages is inferred directly", "Page.books is inferred directly",
    ] {
      #expect(plan.contains(name), "\(name) in \(plan)")
    }
  }

  @Test("Finding A5: an entity that goes and comes back keeps its objects and their links")
  func entities() throws {
    let pages = Self.entity("Page", Self.text("word") + Self.link("book", "Book", "pages", many: false))
    let results = try results(
      [
        Self.entity("Book", Self.title + Self.link("pages", "Page", "book", many: true)) + pages,
        Self.entity("Book", Self.title),
        Self.entity("Book", Self.title + Self.new + Self.link("pages", "Page", "book", many: true)) + pages,
      ], ["SELECT Z_PK || coalesce(ZWORD, '-') || coalesce(ZBOOK, '-') FROM ZPAGE ORDER BY Z_PK"])
    #expect(results[""]?.isKept == true && results["direct"]?.isKept == true && results["stepwise"]?.after == [])
    #expect(
      results[""]?.plan.contains("V1 to V3: Page is inferred directly, from Page (step by step: without objects)")
        == true)
    #expect(results["stepwise"]?.plan.contains("(directly: from Page, which is lost)") == true)
  }

  @Test("Finding A5: a relationship that goes and comes back keeps its links; where one end stays, nothing differs")
  func relationships() throws {
    let ends = (Self.link("pages", "Page", "book", many: true), Self.link("book", "Book", "pages", many: false))
    let first = Self.entity("Book", Self.title + ends.0) + Self.entity("Page", Self.text("word") + ends.1)
    let last = Self.entity("Book", Self.title + Self.new + ends.0) + Self.entity("Page", Self.text("word") + ends.1)
    let sql = "SELECT Z_PK || ' ' || ZBOOK FROM ZPAGE WHERE ZBOOK IS NOT NULL ORDER BY Z_PK"
    let without = Self.entity("Book", Self.title) + Self.entity("Page", Self.text("word"))
    let gone = try results([first, without, last], [sql])
    #expect(gone[""]?.isKept == true && gone["direct"]?.isKept == true && gone["stepwise"]?.after == [])
    #expect(
      gone[""]?.plan.contains("Page.book is inferred directly, from Page.book (step by step: without links)") == true)
    let end =
      #"<relationship name="book" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Book"/>"#
    let one = Self.entity("Book", Self.title) + Self.entity("Page", Self.text("word") + end)
    for (path, result) in try results([first, one, last], [sql]) {
      #expect(result.isKept && !result.plan.contains("is inferred "), "\(path) \(result)")
    }
  }

  @Test("Finding A5: where both ways fill one property from two, the versions' order wins, and plan says what is lost")
  func conflict() throws {
    let results = try results(
      [
        Self.entity("Book", Self.text("x") + Self.text("y")), Self.entity("Book", Self.text("x", was: "y")),
        Self.entity("Book", Self.text("x") + Self.new),
      ], ["SELECT ZY FROM ZBOOK WHERE ZX = Z_PK ORDER BY Z_PK", "SELECT ZX FROM ZBOOK ORDER BY Z_PK"],
      change: "UPDATE ZBOOK SET ZX = Z_PK, ZY = 'y' || Z_PK")
    #expect(results[""]?.isKept == true && results["stepwise"]?.isKept == true && results["direct"]?.isKept == false)
    let way = "Book.x is inferred step by step, from Book.y (directly: from Book.x, which is lost)"
    #expect(results[""]?.plan.contains(way) == true)
    #expect(results[""]?.plan.contains("drops 30 values of Book.x") == true)
  }

  @Test("Finding A5: what a version between would narrow stays whole, and what it cannot hold at all")
  func narrowed() throws {
    func number(_ type: String) -> String { #"<attribute name="n" optional="YES" attributeType="\#(type)"/>"# }
    let sql = "SELECT Z_PK || ' ' || ZN FROM ZBOOK ORDER BY Z_PK"
    let change = "UPDATE ZBOOK SET ZN = Z_PK + 0.5"
    let versions = ["Integer 16", "String"].map { type in
      [
        Self.entity("Book", Self.title + number("Double")), Self.entity("Book", Self.title + number(type)),
        Self.entity("Book", Self.title + number("Double") + Self.new),
      ]
    }
    let results = try results(versions[0], [sql], change: change)
    #expect(results[""]?.isKept == true && results["direct"]?.isKept == true && results["stepwise"]?.isKept == false)
    #expect(results[""]?.plan.contains("(step by step: from Book.n as integer16 on the way)") == true)
    let (folder, store) = try FindingFolder.entities(versions[1], rows: 10)
    try folder.execute(store, change)
    let before = try folder.texts(store, sql)
    let refused = try folder.run(["migrate", store, "--models", folder.models, "--path", "stepwise"])
    #expect(refused.code == 20 && refused.error.contains("the type changed from double to string"), "\(refused)")
    let outcome = try folder.run(["migrate", store, "--models", folder.models])
    #expect(
      outcome.code == 0 && outcome.output.contains("V1 to V3 is inferred directly, past the versions"), "\(outcome)")
    #expect(try folder.texts(store, sql) == before)
  }

  @Test(
    "Where inference past the versions between is impossible, it is version by version; --path direct is refused with the reason"
  )
  func impossible() throws {
    let number = #"<attribute name="n" optional="YES" attributeType="Double"/>"#
    let (folder, store) = try FindingFolder.entities(
      [
        Self.entity("Book", Self.title + number), Self.entity("Book", Self.title),
        Self.entity("Book", Self.title + Self.text("n")),
      ],
      rows: 10)
    let refused = try folder.run(["plan", store, "--models", folder.models, "--path", "direct"])
    #expect(
      refused.code == 20 && refused.error.contains("Book.n: the type changed from double to string"), "\(refused)")
    #expect(refused.error.contains("without --path direct"), "\(refused)")
    try folder.runWell(["migrate", store, "--models", folder.models])
    #expect(try folder.texts(store, "SELECT ZN FROM ZBOOK WHERE ZN IS NOT NULL").isEmpty)
  }

  @Test("Inferred steps before and behind a mapping model keep what goes and comes back, each by themselves")
  func around() throws {
    let (all, some) = (Self.title + Self.text("pages"), Self.title)
    let word = Self.text("word")
    let (folder, store) = try FindingFolder.entities(
      [all, some, all + Self.new, all + word, some + word, all + word + Self.new].map { Self.entity("Book", $0) },
      rows: 20)
    let mapping = folder.file("m.yaml")
    try "from: V3\nto: V4\nentities:\n  - { from: Book, to: Book, attributes: { word: $source.title } }\n"
      .write(toFile: mapping, atomically: true, encoding: .utf8)
    let words = ["--models", folder.models, "--mappings", mapping]
    let before = try folder.texts(
      store, "SELECT coalesce(ZPAGES, '-') || coalesce(ZTITLE, '-') FROM ZBOOK ORDER BY Z_PK")
    let plan = try folder.run(["plan", store] + words)
    #expect(plan.output.contains("V1 to V3: Book.pages is inferred directly"), "\(plan)")
    #expect(plan.output.contains("V4 to V6: Book.pages is inferred directly"), "\(plan)")
    #expect(!plan.output.contains("is not used"), "\(plan)")
    for (number, more) in [[], ["--no-fuse"]].enumerated() {
      let output = folder.file("o\(number).sqlite")
      try folder.runWell(["migrate", store, "--output", output] + words + more)
      let after = try folder.texts(
        output, "SELECT coalesce(ZPAGES, '-') || coalesce(ZWORD, '-') FROM ZBOOK ORDER BY Z_PK")
      #expect(after == before)
    }
  }

  private static let pages = [
    entity("Book", title + text("pages")), entity("Book", title), entity("Book", title + text("pages") + new),
  ]

  @Test("Finding A5: a run that is resumed goes the way that it began", arguments: ["", "direct", "stepwise"])
  func resumed(path: String) throws {
    let (folder, store) = try FindingFolder.entities(Self.pages, rows: 30)
    try folder.kill(
      ["migrate", store, "--models", folder.models] + (path.isEmpty ? [] : ["--path", path]) + FindingFolder.written,
      before: "rename cutover.json")
    let job = try JobDirectory(destination: store)
    #expect(try JobPlan.read(job, LocalFileSystem()).inference == InferencePath(rawValue: path))
    try folder.runWell(["resume", store])
    #expect(
      try folder.texts(store, "SELECT ZPAGES FROM ZBOOK WHERE ZPAGES IS NOT NULL").isEmpty == (path == "stepwise"))
  }

  @Test("Where the ways do not differ, the steps are those of version by version, and the plan has no word of it")
  func same() throws {
    let (folder, store) = try FindingFolder.entities(
      [
        Self.entity("Book", Self.title), Self.entity("Book", Self.title + Self.text("a")),
        Self.entity("Book", Self.text("name", was: "title") + Self.text("a") + Self.new),
      ], rows: 20)
    var request = MigrationJob.Request(source: store, models: [folder.models])
    let plan = try MigrationJob().plan(request)
    request.inference = .stepwise
    let stepwise = try MigrationJob().plan(request)
    #expect(plan.steps == stepwise.steps && plan.notes == stepwise.notes && plan.differences.isEmpty)
    #expect(plan.steps.map(\.passedVersions) == [["V2"]])
    let json = try folder.run(["plan", store, "--models", folder.models, "--json"])
    #expect(json.code == 0 && !json.output.contains("differences"), "\(json)")
  }

  @Test("plan --json lists where the ways differ; --path does not go with stages")
  func documents() throws {
    let (folder, store) = try FindingFolder.entities(Self.pages, rows: 20)
    let json = try folder.run(["plan", store, "--models", folder.models, "--json"])
    let plan = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
    let differences = try #require(plan["differences"] as? [[String: String]])
    #expect(
      differences == [
        [
          "source": "V1", "destination": "V3", "name": "Book.pages", "taken": "direct", "direct": "from Book.pages",
          "stepwise": "without a value",
        ]
      ])
    let stages = folder.file("stages.yaml")
    try "stages:\n  - lightweight: [V1, V2, V3]\n".write(toFile: stages, atomically: true, encoding: .utf8)
    let refused = try folder.run(["plan", store, "--models", folder.models, "--stages", stages, "--path", "direct"])
    #expect(refused.code == 64 && refused.error.contains("--stages"), "\(refused)")
    let staged = try folder.run(["plan", store, "--models", folder.models, "--stages", stages])
    #expect(staged.code == 0 && staged.output.contains("values of Book.pages"), "\(staged)")
    #expect(!staged.output.contains("is inferred"), "\(staged)")
  }
}
