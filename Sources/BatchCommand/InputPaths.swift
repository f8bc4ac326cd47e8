import Foundation
import Streams

/// What a command reads, as far as its line and its file `godwit.yaml` name it.
struct InputPaths {
  /// Folders that are one thing for whoever names them.
  private static let packages: Set = ["xcdatamodeld", "xcdatamodel", "momd", "xcmappingmodel"]

  private let paths: [String]

  /// Of the command at work: all words but the values of the option that is to be written, and `words`.
  init(_ option: String, and words: [String]) {
    let all = CommandLineWords.without(valueOf: option) + words + [ProjectFile.seen].compactMap(\.self)
    paths = all.flatMap(Self.paths)
  }

  /// What of it would be lost if something was written to a path without links.
  func first(at target: String, _ status: FileStatus?) -> String? {
    if let package = Self.package(of: target) { return package }
    guard let status else { return nil }
    return paths.first { path in
      guard let found = (try? LocalFileSystem().status(path)) ?? nil else { return false }
      return (status.device, status.inode) == (found.device, found.inode)
        || found.isDirectory && Self.isRead(target, in: OutputPath.resolved(path))
    }
  }

  /// The paths that a word may mean: `--option=PATH`, a pattern, or a model with its version after a colon.
  private static func paths(in word: String) -> [String] {
    guard !word.hasPrefix("--") else {
      return word.firstIndex(of: "=").map { paths(in: String(word[word.index(after: $0)...])) } ?? []
    }
    let model = word.lastIndex(of: ":").map { String(word[..<$0]) }
    return ((try? PathPattern.paths(word)) ?? []) + [model].compactMap(\.self).filter { !$0.isEmpty }
  }

  /// The model or mapping model that a file is a part of.
  private static func package(of target: String) -> String? {
    var folder = FilePaths.directory(of: target)
    while folder.utf8.count > 1 {
      if packages.contains((folder as NSString).pathExtension) { return folder }
      folder = FilePaths.directory(of: folder)
    }
    return nil
  }

  /// Of a folder that is named, models and mapping models are read. `init` may write its file there.
  private static func isRead(_ target: String, in folder: String) -> Bool {
    guard FilePaths.name(of: target) != ProjectFile.name else { return false }
    let extensions = LineContents.modelExtensions + LineContents.mappingExtensions
    return target.hasPrefix(folder + "/") && extensions.contains((target as NSString).pathExtension)
  }
}
