import Foundation
import GRDB
import Testing

@Suite("A comparison as a page")
struct ContentsPageTests {
  private let folder: CommandFolder
  private let old: String
  private let new: String

  /// Every book differs.
  init() throws {
    folder = try CommandFolder()
    old = try folder.sample(rows: 12_000)
    new = folder.file("Later.sqlite")
    try FileManager.default.copyItem(atPath: old, toPath: new)
    let queue = try DatabaseQueue(path: new)
    try queue.write { try $0.execute(sql: "UPDATE ZBOOK SET ZTITLE = 'changed ' || Z_PK, ZPAGES = ZPAGES + 1") }
    try queue.close()
  }

  /// Says how much memory a program took.
  private static var time: [String] {
    FileManager.default.isExecutableFile(atPath: "/usr/bin/time") ? ["/usr/bin/time", "-f", "%M"] : []
  }

  /// The page of a comparison, and how many KiB of memory that took.
  private func page(_ words: [String]) throws -> (html: String, memory: Int) {
    let path = folder.newPath("page.html")
    let outcome = try folder.run(
      "godwit", ["diff", "--contents", old, new, "--html", path] + words, launcher: Self.time)
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(!FileManager.default.fileExists(atPath: path + ".new"))
    let memory = outcome.error.split(separator: "\n").last.flatMap { Int($0) } ?? 0
    return (try String(contentsOfFile: path, encoding: .utf8), memory)
  }

  private func changes(_ html: String) -> Int { html.components(separatedBy: "class=\"change\"").count - 1 }

  @Test("A page shows 200 changes of an entity, or as many as --limit says, and the number of the others")
  func limit() throws {
    let books = try #require(
      try DatabaseQueue(path: new).read { try Int.fetchOne($0, sql: "SELECT count(*) FROM ZBOOK") })
    #expect(books > 5000)
    func left(_ shown: Int) -> String { "and \(grouped(books - shown)) more, which a larger --limit shows" }
    let short = try page([])
    #expect(changes(short.html) == 200 && short.html.contains(left(200)))
    let some = try page(["--limit", "5300"])
    #expect(changes(some.html) == 5300 && some.html.contains(left(5300)))
    let all = try page(["--limit", "100000"])
    #expect(changes(all.html) == books && !all.html.contains("more, which") && all.html.hasSuffix("</html>\n"))
    // In the order in which they were found, each whole.
    let keys = all.html.matches(of: #/</span> Book ([0-9]+)</h3><dl>.*?</dl></div>/#).compactMap { Int($0.1) }
    #expect(keys.count == books && keys == keys.sorted())
  }

  @Test("A page takes no more memory for ten thousand changes than for one")
  func memory() throws {
    guard !Self.time.isEmpty else { return print("skipped: there is no /usr/bin/time") }
    let (one, all) = (try page(["--limit", "1"]), try page(["--limit", "100000"]))
    #expect(all.html.utf8.count > 2 << 20)
    #expect(all.memory < one.memory + 4096, "\(one.memory) KiB and \(all.memory) KiB")
  }

  private func grouped(_ number: Int) -> String {
    number < 1000 ? "\(number)" : "\(number / 1000),\(String(format: "%03d", number % 1000))"
  }

  @Test("Where a page cannot get its name, nothing is left of it")
  func nothingLeft() throws {
    let taken = folder.newPath("taken.html")
    try FileManager.default.createDirectory(atPath: taken + "/inside", withIntermediateDirectories: true)
    let outcome = try folder.run("godwit", ["diff", "--contents", old, new, "--html", taken])
    #expect(outcome.code == 1 && outcome.error.contains("taken.html: the page cannot be written"), "\(outcome.error)")
    #expect(FileManager.default.fileExists(atPath: taken + "/inside"))
    #expect(!FileManager.default.fileExists(atPath: taken + ".new"))
  }
}
