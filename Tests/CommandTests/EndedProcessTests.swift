import Foundation
import Testing

@Suite("Programs that a signal ends")
struct EndedProcessTests {
  @Test("Exports and imports that are ended leave no temporary files, neither in TMPDIR nor beside the output")
  func ended() throws {
    let store = try XMLStoreFolder(rows: 20_000)
    let (temporary, lines) = (store.folder.newPath("tmp"), store.folder.newPath("all.jsonl"))
    try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
    try store.export(store.sqlite).write(toFile: lines, atomically: false, encoding: .utf8)
    let before = try store.folder.tree().keys.sorted()
    let output = store.folder.file("out")
    let launcher = ["/usr/bin/env", "TMPDIR=" + temporary]
    for words in [
      ["export", store.xml, "--to-many", "--output", output] + store.arguments,
      ["import", store.arguments[1], lines, "--version", "Shapes 1", "--validate", "none", "--output", output],
    ] {
      for signal in [SIGTERM, SIGINT, SIGHUP] {
        let process = try CommandProcess("godwit", words, in: store.folder, launcher: launcher)
        while process.isRunning, try !isUnderWay(temporary, output) { usleep(1000) }
        usleep(100_000)
        process.send(signal)
        let outcome = try process.wait()
        #expect(outcome.code == 128 + signal, "\(words[0]) \(signal): \(outcome)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary).isEmpty)
        #expect(try store.folder.tree().keys.sorted() == before)
      }
    }
  }

  private func isUnderWay(_ temporary: String, _ output: String) throws -> Bool {
    let names = try FileManager.default.contentsOfDirectory(atPath: temporary)
    return names.contains { $0.hasPrefix("godwit-xml") } || FileManager.default.fileExists(atPath: output + ".import")
  }
}
