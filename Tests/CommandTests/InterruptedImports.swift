import Foundation
import Glibc
import Testing

// Imports that are long enough to be interrupted.
extension ImportFolder {
  var store: String { folder.file("New.sqlite") }
  var scratch: String { folder.file(".New.sqlite.godwit-import") }
  var stop: String { get throws { try StopLibrary.build(at: folder.newPath("stop-at.so")) } }

  /// Objects with links of every kind, by keys, by values and from both sides; wrong lines; two files.
  func linked(_ count: Int = 1200) throws -> [String] {
    var lines: [String] = []
    for key in stride(from: count, to: 0, by: -1) {
      // Friends are so on both sides: one of them says it.
      let friends = key > 7 ? #""friends":[\#(key % 7 + 1)],"# : ""
      lines.append(
        #"{"entity":"Keeper","key":\#(key),"attributes":{"birthDate":\#(key),"order":"keeper \#(key)"},"relationships":{"boss":\#(key / 2 + 1),\#(friends)"tags":[{"label":"tag \#(key % 50)"}]}}"#
      )
      if key % 3 == 0 {
        lines.append(#"{"entity":"Lion","attributes":{"name":"Lion \#(key)"},"relationships":{"keeper":\#(key)}}"#)
      }
      if key % 500 == 7, key < 2000 { lines.append(#"{"entity":"Lion","attributes":{"name":7}}"#) }
    }
    let tags = (0..<50).map { "tag \($0)" }.joined(separator: "\n")
    return [try write("a.jsonl", lines.joined(separator: "\n")), try write("Tag.csv", "label\n\(tags)\n")]
  }

  func words(_ inputs: [String], to store: String? = nil, _ more: [String] = []) -> [String] {
    ["import", model] + inputs + [
      "--output", store ?? self.store, "--max-rejects", "5", "--checkpoint-every", "12kB",
    ] + more
  }

  func launcher(_ library: String, _ settings: String...) -> [String] {
    ["/usr/bin/env", "LD_PRELOAD=\(library)"] + settings
  }

  /// An import that was killed behind two checkpoints, or before another one was published.
  func interrupt(_ inputs: [String], _ more: [String] = [], before checkpoint: Int = 3) throws {
    let killed = try folder.run(
      "godwit", words(inputs, more),
      launcher: launcher(
        try stop, "STOP_ONLY=rename checkpoint-000000000\(checkpoint).lz4", "STOP_AT=1", "STOP_WITH=KILL"))
    try #require(killed.code == 128 + SIGKILL, "\(killed)")
  }

  /// Begins an import, and resumes it, each time killed behind one to three checkpoints, until one ends with a code.
  /// Returns how often it was killed.
  func killedOften(_ words: [String], ending code: Int32) throws -> Int {
    let library = try stop
    var (next, kills) = (words, 0)
    while kills < 60 {
      let outcome = try folder.run(
        "godwit", next,
        launcher: launcher(library, "STOP_ONLY=rename .lz4", "STOP_AT=\(2 + kills % 3)", "STOP_WITH=KILL"))
      guard outcome.code == 128 + SIGKILL else {
        #expect(outcome.code == code, "\(outcome)")
        break
      }
      kills += 1
      next = ["resume", store]
    }
    return kills
  }

  /// The commands between backticks.
  static func commands(_ text: String) -> [String] {
    text.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }.map {
      String($0.element)
    }
  }
}
