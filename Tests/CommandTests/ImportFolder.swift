import Foundation
import Testing

/// A folder with a model for imports, and what they do there.
struct ImportFolder {
  let folder: CommandFolder
  let model: String

  init() throws {
    folder = try CommandFolder()
    model = try ZooModel.write(to: folder.newPath("model"))
  }

  func write(_ name: String, _ text: String) throws -> String {
    let path = folder.newPath("in") + "/" + name
    try FileManager.default.createDirectory(
      atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
    try text.write(toFile: path, atomically: false, encoding: .utf8)
    return path
  }

  func importing(_ inputs: [String], _ words: [String] = [], to store: String? = nil) throws
    -> CommandProcess.Outcome
  {
    try folder.run("godwit", ["import", model] + inputs + ["--output", store ?? folder.file("New.sqlite")] + words)
  }

  /// Expects that the import is refused with these words, and leaves nothing.
  func expectFault(_ inputs: [String], _ words: [String], options: [String] = [], code: Int32 = 20) throws {
    // The folder itself has held the unfinished store for a while.
    func tree() throws -> [String: String] { try folder.tree().filter { !$0.key.isEmpty } }
    let before = try tree()
    let outcome = try importing(inputs, options)
    #expect(outcome.code == code, "\(inputs): \(outcome)")
    for word in words { #expect(outcome.error.contains(word), "\(word): \(outcome.error)") }
    #expect(try tree() == before)
  }

  func expectFault(_ name: String, _ text: String, _ words: [String], options: [String] = []) throws {
    let path = try write(name, text)
    try expectFault([path], [path] + words, options: options)
  }
}
