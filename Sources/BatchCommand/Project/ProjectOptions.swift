import ArgumentParser
import Batch
import Foundation

/// What a file `godwit.yaml` adds to a command line.
struct ProjectOptions {
  private static let order: Set<String> = ["versions", "by-identifier", "stages"]

  private let file: ProjectFile
  /// What of the file counts for this line, in the order of the file.
  private let entries: [ProjectFile.Entry]

  /// `line` are the command's words: what they say comes before what the file says. `options` are those that
  /// the command has.
  init(_ file: ProjectFile, line: [String], takesMappings: Bool, options: Set<String>) throws {
    self.file = file
    let words = Set(line.prefix { $0 != "--" }.map { String($0.prefix { $0 != "=" }) })
    let hasModel = words.contains("--models") || words.contains("--app")
    let hasOrder = words.contains("--identity") || Self.order.contains { words.contains("--" + $0) }
    entries = file.entries.filter { entry in
      let name = entry.key.name
      guard options.contains(entry.key.option), !words.contains(entry.key.option) else { return false }
      if hasModel, entry.key.isOfModel { return false }
      if words.contains("--identity"), name == "to" || name == "path" { return false }
      if words.contains("--stages"), name == "path" { return false }
      if !takesMappings, name == "mappings" { return false }
      return !(hasOrder && Self.order.contains(name))
    }
    let others = file.entries.filter { entry in
      !options.contains(entry.key.option) && entry.key.name != ProjectKey.policies
        && !(hasModel && entry.key.isOfModel)
    }
    try refuseUntrusted(entries + others)
    try refuseLoneBundle()
    try check(others)
    for entry in file.entries where entry.key.name == ProjectKey.policies {
      Program.know(
        try PolicySource.find(below: entry.values).map {
          ($0.name, .init(place: "\($0.path):\($0.line)", path: $0.path, obstacle: $0.obstacle))
        })
    }
  }

  var words: [String] { entries.flatMap(\.words) }

  /// What it says of models, which is void if the line names models.
  var modelWords: [String] { entries.filter(\.key.isOfModel).flatMap(\.words) }

  /// The line with the words of the file: before what stands for itself, so that no option of the line takes them.
  func adding(_ words: [String], to line: [String]) -> [String] {
    let end = line.firstIndex(of: "--") ?? line.count
    return line[..<end] + words + line[end...]
  }

  /// What a person is told of the file.
  var note: String? {
    let options = entries.filter { !$0.words.isEmpty }.map(\.key.option)
    return options.isEmpty ? nil : "\(file.path) gives \(options.joined(separator: ", "))"
  }

  /// The error of the parser about a line with the words of the file, as one of the file.
  func told(_ error: any Error, _ parses: ([String]) throws -> Void, message: (any Error) -> String) -> any Error {
    told(error, of: entries, parses, message: message)
  }

  private func told(
    _ error: any Error, of entries: [ProjectFile.Entry], _ parses: ([String]) throws -> Void,
    message: (any Error) -> String
  ) -> any Error {
    func isAtFault(_ entry: ProjectFile.Entry) -> Bool {
      do { try parses(entry.words) } catch let other { return message(other) == message(error) }
      return false
    }
    let culprit = entries.first(where: isAtFault)
    let said = message(error)
    // A hint follows, with a full stop before it.
    let text = said.hasSuffix(".") ? String(said.dropLast()) : said
    return fault(culprit, text + (culprit.map { limits(of: $0, among: text) } ?? ""))
  }

  private func fault(_ entry: ProjectFile.Entry?, _ message: String) -> BatchError {
    BatchError(
      .badMapping, (entry.map { "line \($0.line): \($0.key.name): " } ?? "") + message, hint: ProjectFile.hint,
      effect: .nothingWritten, path: file.path)
  }

  /// Values that a message lists, and that this file may not have.
  private func limits(of entry: ProjectFile.Entry, among words: String) -> String {
    guard !file.isNamed, case .values(let values) = entry.key.needsTrust else { return "" }
    let listed = values.map { "'\($0)'" }.filter(words.contains)
    return listed.isEmpty ? "" : " (\(listed.joined(separator: " and ")) only in a file that --config names)"
  }

  /// Other commands read the file, too: what is wrong for them is wrong for all.
  private func check(_ others: [ProjectFile.Entry]) throws {
    func parse(_ words: [String]) throws { _ = try MigrateCommand.parse(["store"] + words) }
    do { try parse(others.flatMap(\.words)) } catch {
      throw told(error, of: others, parse) { MigrateCommand.message(for: $0) }
    }
  }

  private func refuseLoneBundle() throws {
    guard !entries.contains(where: { $0.key.name == "app" }) else { return }
    for entry in entries where entry.key.name == "bundle" {
      throw fault(entry, "it names a model of an application, and the file has no key app")
    }
  }

  /// A file that was found may choose models, and no more than a store may: it starts nothing, writes nowhere else and
  /// gives nothing up.
  private func refuseUntrusted(_ entries: [ProjectFile.Entry]) throws {
    guard !file.isNamed else { return }
    for entry in entries {
      if isTrusted(entry) { continue }
      let value = entry.key.kind == .single ? ": \(entry.values.joined(separator: ", "))" : ""
      throw refusal("line \(entry.line): \(entry.key.name)\(value) counts only in a file that you name")
    }
    for entry in entries where entry.key.name == "mappings" {
      guard try entry.values.contains(where: MappingModelReader.namesDestination) else { continue }
      throw refusal("line \(entry.line): a mapping file that loads into a server counts only in a file that you name")
    }
  }

  private func isTrusted(_ entry: ProjectFile.Entry) -> Bool {
    // Sources in a commit are read by git, in a repository that may say what git runs.
    if entry.key.name == "models" { return !entry.values.contains(where: Self.isInCommit) }
    return switch entry.key.needsTrust {
    case .none: true
    case .all: entry.words.isEmpty
    case .values(let values): entry.values.allSatisfy { !values.contains($0) }
    }
  }

  private static func isInCommit(_ path: String) -> Bool {
    ModelFormats.format(of: path) != nil && !FileManager.default.fileExists(atPath: path)
  }

  private func refusal(_ message: String) -> BatchError {
    BatchError(
      .refused, message, hint: "Look at it, and name it: \(CommandLineWords.adding(["--config", file.path]))",
      effect: .nothingWritten, path: file.path)
  }
}
