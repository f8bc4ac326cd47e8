import RunSupport
import Streams
import SwiftDataModels

/// Reads sources of policies, if the program was built to.
enum PolicyParser {
  private static let mostBytes = 1 << 20

  /// Throws ``BatchError`` (`refused`) for a file that is too long, and in a program without swift-syntax.
  static func read(_ path: String) throws -> PolicyFile {
    let bytes = try LocalFileSystem().readAll(path, cap: mostBytes)
    #if SwiftData
      try SourceParser.checkNesting(bytes, path: path)
      return PolicyReader.read(bytes, path: path)
    #else
      throw BatchError(
        .refused, "this program was built without the trait SwiftData, and reads no Swift",
        hint: "Build it again: swift build -c release", effect: .nothingWritten, path: path)
    #endif
  }
}
