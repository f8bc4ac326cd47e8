import Foundation
import RunSupport
import Streams

/// Finds folders that are one document to a person, such as `.xcdatamodeld`, and documents that are files, such as
/// `.mom`.
package enum PackageFolders {
  private static let greatestDepth = 32
  /// Extensions of documents that are files.
  private static let fileExtensions: Set<String> = ["mom", "cdm", "yaml", "yml", "json"]

  /// The path itself or every document below it that has one of the extensions: the files of a folder before its
  /// folders, each sorted. What lies inside a document is its own.
  package static func find(_ extensions: Set<String>, below path: String, code: BatchError.Code) throws -> [String] {
    try find(extensions, below: path, code: code, depth: 0)
  }

  private static func find(
    _ extensions: Set<String>, below path: String, code: BatchError.Code, depth: Int
  ) throws -> [String] {
    if extensions.contains((path as NSString).pathExtension) { return [path] }
    guard depth < greatestDepth else {
      throw BatchError(code, "folders are nested more than \(greatestDepth) deep", path: path)
    }
    let wanted = extensions.intersection(fileExtensions)
    let files =
      try wanted.isEmpty ? [] : files(in: path, code: code).filter { wanted.contains(($0 as NSString).pathExtension) }
    return try files
      + folders(in: path, code: code).flatMap { try find(extensions, below: $0, code: code, depth: depth + 1) }
  }

  /// Visible folders, sorted. Links to folders are not followed: they could form a ring.
  package static func folders(in path: String, code: BatchError.Code) throws -> [String] {
    try entries(in: path, code: code, \.isDirectory)
  }

  /// Visible regular files, sorted.
  package static func files(in path: String, code: BatchError.Code) throws -> [String] {
    try entries(in: path, code: code, \.isRegularFile)
  }

  private static func entries(
    in path: String, code: BatchError.Code, _ isWanted: (FileStatus) -> Bool
  ) throws -> [String] {
    let names: [String]
    do { names = try FileManager.default.contentsOfDirectory(atPath: path) } catch {
      throw BatchError(code, "the folder cannot be read", path: path, cause: error)
    }
    return names.filter { !$0.hasPrefix(".") }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      .map { (path as NSString).appendingPathComponent($0) }
      .filter { name in (try? LocalFileSystem().statusOfName(name)).map(isWanted) ?? false }
  }

  /// Throws `noSuchFile` if nothing is at the path.
  package static func refuseMissing(_ path: String) throws {
    guard !FileManager.default.fileExists(atPath: path) else { return }
    throw NearName.noSuchFile(path)
  }

  package static func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
  }

  /// The last component without its extension.
  package static func stem(_ path: String) -> String {
    ((path as NSString).lastPathComponent as NSString).deletingPathExtension
  }
}
