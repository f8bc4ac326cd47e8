import Foundation

@testable import MappingModels
@testable import RunSupport

/// Mapping files of tests, in folders of their own.
enum MappingText {
  /// Writes the files and reads the first one.
  static func read(_ text: String, name: String = "Test.yaml", tables: [String: String] = [:]) throws -> MappingModel {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("mapping-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for (file, content) in tables.merging([name: text], uniquingKeysWith: { first, _ in first }) {
      try Data(content.utf8).write(to: URL(fileURLWithPath: folder + "/" + file))
    }
    return try MappingModelReader.read(path: folder + "/" + name)[0]
  }

  /// What reading says is wrong: message and hint.
  static func failure(_ text: String, name: String = "Test.yaml", tables: [String: String] = [:]) -> String {
    do {
      _ = try read(text, name: name, tables: tables)
      return "nothing"
    } catch {
      let known = error as? BatchError
      return "\(known?.entity.map { "\($0): " } ?? "")\(known?.message ?? "\(error)"). \(known?.hint ?? "")"
    }
  }

  /// A file with one entity mapping of books that has these lines.
  static func book(_ lines: String) -> String {
    let indented = lines.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n")
    return "from: A\nto: B\nentities:\n  - from: Book\n\(indented)\n"
  }
}
