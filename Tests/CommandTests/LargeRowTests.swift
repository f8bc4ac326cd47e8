import Foundation
import GRDB
import Testing

@Suite("Rows that are larger than the memory for one")
struct LargeRowTests {
  @Test("A row that is too large for the memory is refused with what would do, by diff and export, and that does")
  func largeRows() throws {
    let folder = try CommandFolder()
    let store = try folder.sample(rows: 900)
    let queue = try DatabaseQueue(path: store)
    try queue.write { try $0.execute(sql: "UPDATE ZBOOK SET ZTITLE = hex(zeroblob(4000000)) WHERE Z_PK = 5") }
    try queue.close()
    let export = ["export", store, "--output", folder.newPath("books") + ".jsonl"]
    for words in [["diff", "--contents", store, store], export] {
      let refused = try folder.run("godwit", words)
      let advice = refused.error.firstMatch(of: /Run again with --memory ([0-9]+M), or more/)
      let size = try #require(advice?.1, "\(refused)")
      #expect(refused.code == 20 && refused.error.contains("row 5 takes"), "\(refused)")
      let done = try folder.run("godwit", words + ["--memory", "\(size)"])
      #expect(done.code == 0, "\(done)")
    }
  }
}
