import Foundation
import RunSupport
import Yams

/// The text of a mapping file as a tree.
package enum MappingDocument {
  /// The most bytes of a mapping file, and of a table.
  static let mostBytes = 1 << 20

  /// Reads a file. Files that are too large, no UTF-8, or repeat too much by aliases are refused. How deep values lie in
  /// each other is limited by the parser, to 1000.
  package static func read(_ path: String) throws -> MappingNode { try parse(try text(path), path: path) }

  /// Whether a file holds a word. False if it is larger than any mapping file.
  static func holds(_ word: String, _ path: String) -> Bool {
    guard let file = FileHandle(forReadingAtPath: path) else { return true }
    defer { try? file.close() }
    guard let data = try? file.read(upToCount: mostBytes + 1), data.count <= mostBytes else { return false }
    return data.range(of: Data(word.utf8)) != nil
  }

  /// The text of a file of at most ``mostBytes``.
  static func text(_ path: String) throws -> String {
    guard let file = FileHandle(forReadingAtPath: path) else {
      throw BatchError(.badMapping, "the file cannot be read", hint: "Check its name and its permissions", path: path)
    }
    defer { try? file.close() }
    guard let data = try? file.read(upToCount: mostBytes + 1) ?? Data() else {
      throw BatchError(.badMapping, "the file cannot be read", hint: "Name a file, not a folder", path: path)
    }
    guard data.count <= mostBytes else {
      throw BatchError(
        .badMapping, "the file is larger than \(mostBytes >> 20) MiB", hint: "Divide it into several", path: path)
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw BatchError(.badMapping, "the file is not UTF-8", hint: "Save it as UTF-8", path: path)
    }
    return text
  }

  static func parse(_ text: String, path: String) throws -> MappingNode {
    do {
      // An alias that the parser resolves could stand for any number of values. So it reads a sign in place of each.
      let marked = try MarkedAliases(text, path: path)
      let parser = try Parser(yaml: marked.text, resolver: .basic, constructor: .default, encoding: .utf8)
      guard let root = try parser.singleRoot() else {
        throw BatchError(.badMapping, "the file is empty", hint: MappingFileObject.file.allowed, path: path)
      }
      // The parser holds the names of anchors.
      return try withExtendedLifetime(parser) { MappingNode(node: try marked.resolved(root), path: path) }
    } catch let error as YamlError {
      throw BatchError(.badMapping, message(error), path: path)
    }
  }

  /// Yams' own text quotes the line, which may hold a value.
  private static func message(_ error: YamlError) -> String {
    switch error {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      "line \(mark.line), column \(mark.column): \(problem)"
    case .duplicatedKeysInMapping(let keys, let context):
      "line \(context.mark.line): the key \(keys.joined(separator: ", ")) stands here twice"
    case .reader(let problem, _, _, _): problem
    default: "the file is no YAML"
    }
  }
}
