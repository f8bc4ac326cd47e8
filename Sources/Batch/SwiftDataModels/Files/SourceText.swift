import Foundation
import RunSupport

/// The text of a file of Swift, with limits before anything is made of it.
struct SourceText: Sendable {
  /// Files that are read at most.
  static let mostFiles = 20_000
  /// The bytes of a file at most. A tree takes 260 times as many.
  static let mostBytes = 1 << 20
  /// The bytes of all files at most.
  static let mostBytesInAll = 256 << 20

  let path: String
  let bytes: [UInt8]
  /// Git's name of the contents, if it comes from there.
  var blob: String?

  /// Throws if a file of that size is too large.
  static func check(_ size: Int, _ path: String) throws {
    guard size > mostBytes else { return }
    throw BatchError(
      .badModel, "the file is larger than \(mostBytes >> 20) MiB, which no source of models is",
      hint: "Name the files without it", path: path)
  }

  /// The files at the paths.
  static func read(_ paths: [String]) throws -> [SourceText] {
    var total = 0
    return try paths.map { path in
      let size = (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? UInt64 ?? 0
      try check(Int(clamping: size), path)
      total += Int(size)
      try checkTotal(total)
      guard let handle = FileHandle(forReadingAtPath: path), let data = try handle.read(upToCount: mostBytes + 1) else {
        guard FileManager.default.isReadableFile(atPath: path) else {
          throw BatchError(.badModel, "the file cannot be read", hint: "Check its owner and its mode", path: path)
        }
        return SourceText(path: path, bytes: [])
      }
      try? handle.close()
      try check(data.count, path)
      return SourceText(path: path, bytes: Array(data))
    }
  }

  static func checkTotal(_ bytes: Int) throws {
    guard bytes > mostBytesInAll else { return }
    throw BatchError(
      .badModel, "the sources are larger than \(mostBytesInAll >> 20) MiB in all",
      hint: "Name the folder of the models alone")
  }
}
