import CoreDataModel
import Foundation
import Streams

/// The sources of Swift that may declare models of SwiftData.
struct SwiftDataSources {
  private static let (mostFiles, mostBytes) = (2000, 1 << 20)

  /// Ways to read them, the best one first; each is a list of models, with the paths of each.
  let readings: [[[String]]]

  /// Looks for files with the macro `@Model`.
  init(_ paths: [String]) {
    let marked = paths.filter(Self.isMarked)
    guard !marked.isEmpty else {
      readings = []
      return
    }
    let folders = marked.map(FilePaths.directory)
    let common = Self.folder(of: marked)
    // Types of attributes may be declared anywhere in an application.
    let all = paths.count <= Self.mostFiles ? [paths] : []
    let each = folders.reduce(into: [String]()) { if $0.last != $1 { $0.append($1) } }.map { [$0] }
    readings = [[[common]].filter(Self.isReadable), all, each].filter { !$0.isEmpty }
  }

  private static func isReadable(_ paths: [String]) -> Bool { ModelFormats.format(of: paths[0]) != nil }

  private static func isMarked(_ path: String) -> Bool {
    guard let bytes = try? LocalFileSystem().readAll(path, cap: mostBytes) else { return false }
    return Data(bytes).range(of: Data("@Model".utf8)) != nil && Data(bytes).range(of: Data("SwiftData".utf8)) != nil
  }

  /// The folder that holds all of these files.
  static func folder(of paths: [String]) -> String {
    let folders = paths.map(FilePaths.directory)
    return folders.dropFirst().reduce(folders.first ?? "/", common)
  }

  /// The folder that holds both.
  private static func common(_ first: String, _ second: String) -> String {
    let parts = zip(first.split(separator: "/"), second.split(separator: "/")).prefix { $0 == $1 }.map(\.0)
    return "/" + parts.joined(separator: "/")
  }
}
