import Batch
import Foundation
import Streams
import Synchronization

/// A file `godwit.yaml`: what is migrated to what, and how, as options of the command line.
struct ProjectFile {
  static let name = "godwit.yaml"

  /// What the file says of one key.
  struct Entry {
    var key: ProjectKey
    var line: Int
    /// Values as options take them; paths from the root. Empty for a flag that is false.
    var values: [String]

    var words: [String] {
      switch key.kind {
      case .flag: values.isEmpty ? [] : [key.option]
      case .single: [key.option] + values
      case .list where key.name == "versions": [key.option, values.joined(separator: ",")]
      case .list where key.name == "define": values.flatMap { [key.option, $0] }
      case .list: values.isEmpty ? [] : [key.option] + values
      }
    }
  }

  /// The whole path.
  let path: String
  /// Whether a person named it, so that all of it counts.
  let isNamed: Bool
  /// In the order of the file.
  let entries: [Entry]

  /// Reads a file.
  ///
  /// Throws ``BatchError`` (`badMapping`) with the line of what is no key, or no value of it.
  init(path: String, isNamed: Bool) throws {
    self.path = URL(fileURLWithPath: path).standardizedFileURL.path
    self.isNamed = isNamed
    guard let status = try LocalFileSystem().status(path) else { throw NearName.noSuchFile(path) }
    // Nobody waits for what somebody else will write.
    guard status.isRegularFile else {
      throw BatchError(
        .refused, "this is no file", hint: "Name a file with --config", effect: .nothingWritten, path: path)
    }
    do { entries = try Self.entries(self.path) } catch var error as BatchError {
      error.hint = error.hint ?? Self.hint
      throw error
    }
  }

  private static let seenPath = Mutex<String?>(nil)
  /// The file of the command at work; nil if it has none.
  static var seen: String? {
    get { seenPath.withLock(\.self) }
    set { seenPath.withLock { $0 = newValue } }
  }

  /// What a person does about an error of the file.
  static let hint = "Correct the file"

  private static func entries(_ path: String) throws -> [Entry] {
    guard let root = try root(path) else { return [] }
    let fields = try root.fields(ProjectKey.object)
    let folder = FilePaths.directory(of: path)
    return try ProjectKey.all.compactMap { key in
      try fields[key.name].map { node in
        Entry(
          key: key, line: node.line,
          values: try Self.values(node, of: key).map { value in
            key.isPath && !value.hasPrefix("/") ? FilePaths.join(folder, value) : value
          })
      }
    }.sorted { $0.line < $1.line }
  }

  /// Nil for a file of nothing but comments.
  private static func root(_ path: String) throws -> MappingNode? {
    let bytes = try LocalFileSystem().readAll(path, cap: 1 << 20)
    let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
    let isBlank = lines.allSatisfy { line in line.first { $0 != " " }.map { $0 == "#" } ?? true }
    return isBlank ? nil : try MappingDocument.read(path)
  }

  private static func values(_ node: MappingNode, of key: ProjectKey) throws -> [String] {
    switch key.kind {
    case .flag: return try node.flag(key.name) ? ["true"] : []
    case .single: return [try node.text(key.name)]
    case .list:
      guard let elements = node.elements else { return [try node.text(key.name)] }
      return try elements.map { try $0.text("each of \(key.name)") }
    }
  }

  /// The file for a command: the one that is named, or else the one beside its store or in the current folder.
  ///
  /// Throws ``BatchError`` (`refused`) with whole commands if both are there, and are not the same.
  static func find(named: String?, store: String?) throws -> ProjectFile? {
    if let named { return try ProjectFile(path: named, isNamed: true) }
    let disk = LocalFileSystem()
    let beside = store.map {
      FilePaths.join(FilePaths.directory(of: URL(fileURLWithPath: $0).standardizedFileURL.path), name)
    }
    let here = FilePaths.join(FileManager.default.currentDirectoryPath, name)
    let found = try [beside, here].compactMap(\.self).compactMap { path in
      try disk.status(path).map { (path: path, id: [$0.device, $0.inode]) }
    }
    if found.count == 2, found[0].id != found[1].id {
      let commands = found.map { CommandLineWords.adding(["--config", $0.path]).description }
      throw BatchError(
        .refused,
        "there are two files \(name), and they may say different things: \(found.map(\.path).joined(separator: " and "))",
        hint: "Name one of them: \(commands.joined(separator: ", or "))", effect: .nothingWritten)
    }
    return try found.first.map { try ProjectFile(path: $0.path, isNamed: false) }
  }
}
