import Codecs
import RunSupport
import Streams

/// The models and compiled mapping models of an archive (`.ipa`), in a folder that only this user can read.
///
/// Nothing else is unpacked, whatever the archive holds, and at most ``mostBytes``.
package enum UnpackedArchive {
  private static let (mostFiles, mostBytes, mostBytesOfFile) = (20_000, 256 << 20, 64 << 20)
  private static let mostBytesOfText = 1 << 20
  /// Folders of which every file is taken.
  private static let packages: Set<String> = ["momd", "xcdatamodeld", "xcdatamodel", "xcmappingmodel"]

  /// Whether the file is a zip archive, by its first bytes: that of its first file, or the end of an empty one.
  static func isArchive(_ path: String) -> Bool {
    guard let file = try? LocalFileSystem().open(path, .read) else { return false }
    defer { file.close() }
    var head = [UInt8](repeating: 0, count: 4)
    _ = try? head.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
    return head.starts(with: [0x50, 0x4B]) && [[3, 4], [5, 6]].contains(Array(head[2...]))
  }

  /// Unpacks an archive, and returns the folder, which is there until the command ends.
  ///
  /// Throws ``BatchError`` (`badModel`) that names the archive and the file for what is hostile or damaged, and
  /// (`failed`) if the folder cannot be written.
  static func unpack(_ path: String) throws -> String {
    let archive = try ZipArchive(path: path)
    defer { archive.close() }
    let wanted = archive.entries.filter { !$0.isFolder && kind($0) != nil }
    try check(wanted, links: archive.entries.filter(\.isLink).map(\.name), path)
    var made: String?
    do {
      let folder = try TemporaryFolders.make("app", in: LocalFileSystem())
      made = folder
      for entry in wanted {
        let limit = kind(entry) == .text ? mostBytesOfText : mostBytesOfFile
        try write(try archive.contents(of: entry, limit: limit), to: entry.name, in: folder)
      }
      return folder
    } catch {
      if let made {
        UnfinishedFiles.discard(made, LocalFileSystem())
      }
      guard let error = error as? StreamsError else { throw error }
      throw BatchError(
        .failed, "the models of the archive cannot be unpacked",
        hint: "Set TMPDIR to a folder that can be written", effect: .nothingWritten, path: path, cause: error)
    }
  }

  private enum Kind { case model, text }

  private static func kind(_ entry: ZipEntry) -> Kind? {
    let parts = entry.name.split(separator: "/").map { String($0.split(separator: ".").last ?? "") }
    guard let last = parts.last, !entry.name.hasPrefix("__MACOSX/") else { return nil }
    if ["mom", "cdm"].contains(last) || parts.dropLast().contains(where: packages.contains) { return .model }
    return ["yaml", "yml"].contains(last) && entry.size <= mostBytesOfText ? .text : nil
  }

  /// Whether a path is that of a folder that is one document.
  private static func isPackage(_ name: String) -> Bool {
    packages.contains(name.trimmed.split(separator: ".").last.map(String.init) ?? "")
  }

  /// `links` are the symbolic links of the archive: nothing that is taken lies below one.
  private static func check(_ entries: [ZipEntry], links: [String], _ path: String) throws {
    func refusal(_ message: String) -> BatchError {
      BatchError(
        .badModel, message, hint: "Get the archive again, or unpack what you trust and name that folder",
        effect: .nothingWritten, path: path)
    }
    var (names, folders, total) = (Set<String>(), Set<String>(), 0)
    for entry in entries {
      let parts = entry.name.trimmed.split(separator: "/")
      for count in 1..<max(1, parts.count) { folders.insert(parts.prefix(count).joined(separator: "/")) }
      guard names.insert(entry.name.trimmed).inserted else {
        throw refusal("the file \(entry.name) is in this zip archive twice")
      }
      total += min(entry.size, mostBytes)
      guard total <= mostBytes, names.count <= mostFiles else {
        throw refusal(
          "the models of this zip archive are more than \(mostBytes >> 20) MiB or \(mostFiles.grouped) files")
      }
    }
    if let link = links.first(where: { folders.contains($0.trimmed) || isPackage($0) }) {
      throw refusal("the file \(link) of this zip archive is not read: it is a symbolic link in the place of a folder")
    }
    guard let both = names.first(where: folders.contains) else { return }
    throw refusal("\(both) is a file and a folder in this zip archive")
  }

  /// Writes a file and the folders on its way. The name stays inside: the archive has been checked.
  private static func write(_ bytes: [UInt8], to name: String, in folder: String) throws {
    let disk = LocalFileSystem()
    var place = folder
    let parts = name.split(separator: "/").filter { $0 != "." }.map(String.init)
    for part in parts.dropLast() {
      place = FilePaths.join(place, part)
      try disk.makeDirectory(place)
    }
    let file = try disk.open(FilePaths.join(place, parts.last ?? ""), .create)
    defer { file.close() }
    try bytes.withUnsafeBytes { try file.write($0, at: 0) }
  }
}

extension String {
  /// As paths are compared: without parts that lead nowhere.
  fileprivate var trimmed: String { split(separator: "/").filter { $0 != "." }.joined(separator: "/") }
}
