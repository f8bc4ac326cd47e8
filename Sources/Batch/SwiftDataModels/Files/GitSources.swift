import Foundation
import RunSupport

/// Sources in a commit of a git repository. Git's own command reads them; nothing is checked out.
struct GitSources {
  /// Identifiers that a pipe takes before anybody reads it.
  private static let identifiersAtOnce = 1000

  let source: SourcePath
  private let revision: String
  /// An existing folder of the repository, and the path from there.
  private let folder: String
  private let rest: String

  /// A file in a commit.
  private struct Entry {
    let path: String
    let blob: String
    let size: Int
  }

  init(_ source: SourcePath) {
    self.source = source
    revision = source.revision ?? "HEAD"
    var (folder, rest) = (source.path, [String]())
    var isFolder: ObjCBool = false
    while !FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder) || !isFolder.boolValue {
      rest.insert((folder as NSString).lastPathComponent, at: 0)
      let parent = (folder as NSString).deletingLastPathComponent
      if parent == folder { break }
      folder = parent.isEmpty ? "." : parent
    }
    (self.folder, self.rest) = (folder, rest.joined(separator: "/"))
  }

  /// The texts; of contents that `isKnown` says are known, without bytes.
  func texts(isKnown: (String) -> Bool) throws -> [SourceText] {
    let entries = try self.entries(of: try commit())
    var total = 0
    for entry in entries {
      try SourceText.check(entry.size, name(entry))
      total += entry.size
      try SourceText.checkTotal(total)
    }
    guard entries.count <= SourceText.mostFiles else {
      throw problem("it holds more than \(SourceText.mostFiles.grouped) files of Swift")
    }
    let wanted = Array(Set(entries.map(\.blob).filter { !isKnown($0) })).sorted()
    var contents: [String: [UInt8]] = [:]
    for start in stride(from: 0, to: wanted.count, by: Self.identifiersAtOnce) {
      try read(Array(wanted[start..<min(start + Self.identifiersAtOnce, wanted.count)]), into: &contents)
    }
    return entries.map { SourceText(path: name($0), bytes: contents[$0.blob] ?? [], blob: $0.blob) }
  }

  private func name(_ entry: Entry) -> String {
    rest.isEmpty ? "\(source.path)/\(entry.path)@\(revision)" : "\(folder)/\(entry.path)@\(revision)"
  }

  private func problem(_ message: String, hint: String? = nil) -> BatchError {
    BatchError(.badModel, message, hint: hint, path: "\(source.path)@\(revision)")
  }

  /// The name of the commit.
  func commit() throws -> String {
    let answer = try git(["rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"])
    if answer.code == 0 { return String(decoding: answer.output, as: UTF8.self).trimmingCharacters(in: .newlines) }
    if answer.code == 1 {
      throw problem(
        "the repository has no tag, branch or commit named \(revision)",
        hint: "List the tags: git -C \(ShellWords.quoted(folder)) tag")
    }
    throw failure(answer)
  }

  private func failure(_ answer: GitCommand.Answer) -> BatchError {
    let first = answer.error.split(separator: "\n").first.map(String.init) ?? "git ended with \(answer.code)"
    return problem("git cannot read it: \(first)", hint: "Name a file or folder in a git repository")
  }

  private func entries(of commit: String) throws -> [Entry] {
    let answer = try git(["ls-tree", "-r", "-z", "-l", commit] + (rest.isEmpty ? [] : ["--", rest]))
    guard answer.code == 0 else { throw failure(answer) }
    let all = answer.output.split(separator: 0).compactMap { entry(String(decoding: $0, as: UTF8.self)) }
    let isPackage = all.contains { $0.path == (rest.isEmpty ? "Package.swift" : rest + "/Package.swift") }
    let found = all.filter { entry in
      let folders = entry.path.split(separator: "/").dropLast().map(String.init)
      return SourceFolder.isSource(entry.path, isPackage: isPackage)
        && folders.allSatisfy { SourceFolder.isWanted($0, isPackage: isPackage) }
    }
    guard !found.isEmpty else { throw problem("there is no file of Swift", hint: "Check the path") }
    return found.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
  }

  /// `100644 blob 3e4f… 1234\tpath`; links and submodules are none.
  private func entry(_ line: String) -> Entry? {
    guard let tab = line.firstIndex(of: "\t") else { return nil }
    let words = line[..<tab].split(separator: " ")
    guard words.count == 4, words[0].hasPrefix("100"), words[1] == "blob", let size = Int(words[3]) else { return nil }
    return Entry(path: String(line[line.index(after: tab)...]), blob: String(words[2]), size: size)
  }

  /// `id blob size\n`, the bytes, `\n`.
  private func read(_ blobs: [String], into contents: inout [String: [UInt8]]) throws {
    let answer = try git(["cat-file", "--batch"], input: blobs.map { $0 + "\n" }.joined())
    guard answer.code == 0 else { throw failure(answer) }
    var rest = answer.output[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let words = String(decoding: rest[..<end], as: UTF8.self).split(separator: " ")
      guard words.count == 3, words[1] == "blob", let size = Int(words[2]), size < rest.count - (end - rest.startIndex)
      else { throw problem("git does not give the files of the commit") }
      contents[String(words[0])] = Array(rest[(end + 1)..<(end + 1 + size)])
      rest = rest[(end + 1 + size)...].dropFirst()
    }
  }

  private func git(_ arguments: [String], input: String = "") throws -> GitCommand.Answer {
    let answer = try GitCommand.run(["-C", folder] + arguments, input: input)
    guard answer.code != 127 else {
      throw problem("git is not installed", hint: "Install git, or name the sources as files")
    }
    return answer
  }
}
