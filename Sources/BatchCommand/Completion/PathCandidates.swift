import Foundation

/// Paths that begin as it was typed.
struct PathCandidates {
  /// In natural order; folders that only lead on end with a slash.
  let paths: [String]

  /// Folders and files with one of the extensions; all files for none of them, folders alone for nil.
  init(_ typed: String, extensions: [String]?) {
    let head = typed.lastIndex(of: "/").map { String(typed[...$0]) } ?? ""
    let start = typed.dropFirst(head.count)
    let folder = head.isEmpty ? "." : (head as NSString).expandingTildeInPath
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    paths = names.filter { $0.hasPrefix(start) && ($0.hasPrefix(".") == start.hasPrefix(".")) }
      .sorted { $0.compare($1, options: .numeric) == .orderedAscending }
      .compactMap { name in
        let isWanted = extensions.map { $0.isEmpty || $0.contains((name as NSString).pathExtension) } ?? false
        guard Self.isFolder(folder + "/" + name) else { return isWanted ? head + name : nil }
        return head + name + (isWanted && extensions?.isEmpty == false ? "" : "/")
      }
  }

  private static func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
  }
}
