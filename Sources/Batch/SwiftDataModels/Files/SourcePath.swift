import CoreDataModel
import Foundation

/// A path of sources as a person names it: a file, a folder, or one of them in a commit, `PATH@TAG`.
struct SourcePath: Hashable {
  /// The file or folder, which in another commit may be there while it is not now.
  let path: String
  /// A tag, a branch or a commit; nil for the files as they are.
  let revision: String?

  /// Nil if it names no sources of Swift.
  init?(_ argument: String) {
    if FileManager.default.fileExists(atPath: argument) {
      guard Self.isSwift(argument) else { return nil }
      (path, revision) = (argument, nil)
      return
    }
    // A path may hold an @ itself: what follows the last one names the commit.
    guard let at = argument.lastIndex(of: "@"), at > argument.startIndex else { return nil }
    let (base, name) = (String(argument[..<at]), String(argument[argument.index(after: at)...]))
    let suffix = (base as NSString).pathExtension
    guard !name.isEmpty, !ModelReader.extensions.contains(suffix) else { return nil }
    (path, revision) = (base, name)
  }

  /// A file of Swift, or a folder that holds one and no model of Xcode.
  private static func isSwift(_ path: String) -> Bool {
    guard PackageFolders.isFolder(path) else { return (path as NSString).pathExtension == "swift" }
    guard !ModelReader.extensions.contains((path as NSString).pathExtension) else { return false }
    let models = try? PackageFolders.find(ModelReader.extensions, below: path, code: .badModel)
    return models?.isEmpty == true && SourceFolder.holdsSwift(path)
  }
}
