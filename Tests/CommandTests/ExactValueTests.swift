import Foundation
import GRDB
import Testing

/// Values are told apart by their bytes, and found by what is shown of them.
@Suite("Values that look alike")
struct ExactValueTests {
  private let folder: CommandFolder
  private let old: String
  private let new: String

  init() throws {
    folder = try CommandFolder()
    old = try folder.sample(rows: 300)
    new = folder.file("Later.sqlite")
    try FileManager.default.copyItem(atPath: old, toPath: new)
  }

  private func change(_ store: String, _ sql: String) throws {
    let queue = try DatabaseQueue(path: store)
    try queue.write { try $0.execute(sql: sql) }
    try queue.close()
  }

  private func diff() throws -> String { try expectLook(["diff", "--contents", old, new], in: folder) }

  @Test("Texts that only look alike differ, and so do bytes that are no UTF-8")
  func alike() throws {
    for (one, other) in [("636166C3A9", "63616665CC81"), ("61FF", "61FE"), ("61FF62", "61EFBFBD62")] {
      try change(old, "UPDATE ZBOOK SET ZTITLE = CAST(X'\(one)' AS TEXT) WHERE Z_PK = 3")
      try change(new, "UPDATE ZBOOK SET ZTITLE = CAST(X'\(one)' AS TEXT) WHERE Z_PK = 3")
      #expect(try diff().contains("no difference\n"))
      try change(new, "UPDATE ZBOOK SET ZTITLE = CAST(X'\(other)' AS TEXT) WHERE Z_PK = 3")
      let text = try diff()
      #expect(text.contains("Book 3") && !text.contains("no difference"), "\(one): \(text)")
    }
  }

  @Test("A date as an export shows it finds its object with --since, though it has less digits than the store")
  func since() throws {
    try change(old, "UPDATE ZBOOK SET ZPUBLISHED = 800000000.1234567 WHERE Z_PK = 3")
    let line = try expectLook(["export", old, "Book", "--raw", "--where", "Z_PK = 3"], in: folder)
    let date = try #require(line.firstMatch(of: /2026-05-09T[0-9:.]+Z/)?.output)
    #expect(date.hasSuffix(".123457Z"), "\(date)")
    let found = try expectLook(["export", old, "Book", "--raw", "--since", String(date)], in: folder)
    #expect(found.split(separator: "\n").contains { $0.contains(#""key":3,"#) }, "\(found)")
  }
}
