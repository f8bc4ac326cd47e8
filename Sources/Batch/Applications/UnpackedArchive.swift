import Codecs
import Foundation
import RunSupport
import Streams
import Synchronization

/// The models and compiled mapping models of an archive (`.ipa`), in a folder that only this user can read.
///
/// Nothing else is unpacked, whatever the archive holds, and at most ``mostBytes``.
package enum UnpackedArchive {
  private static let (mostFiles, mostBytes, mostBytesOfFile) = (20_000, 256 << 20, 64 << 20)
  private static let mostBytesOfText = 1 << 20
  /// Folders of which every file is taken.
  private static let packages: Set<String> = ["momd", "xcdatamodeld", "xcdatamodel", "xcmappingmodel"]
  private static let folders = Mutex<[String]>([])

  /// Whether the file is a zip archive, by its first bytes: that of its first file, or the end of an empty one.
  static func isArchive(_ path: String) -> Bool {
    guard let file = try? LocalFileSystem().open(path, .read) else { return false }
    defer { file.close() }
    var head = [UInt8](repeating: 0, count: 4)
    _ = try? head.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
    return head.starts(with: [0x50, 0x4B]) && [[3, 4], [5, 6]].contains(Array(head[2...]))
  }

  /// Unpacks an archive, and returns the folder.
  ///
  /// Throws ``BatchError`` (`badModel`) that names the archive and the file for what is hostile or damaged, and
  /// (`failed`) if the folder cannot be written.
  static func unpack(_ path: String) throws -> String {
    let archive = try ZipArchive(path: path)
    defer { archive.close() }
    let wanted = archive.entries.filter { !$0.isFolder && kind($0) != nil }
    try check(wanted, path)
    let folder = FilePaths.join(FileManager.default.temporaryDirectory.path, "godwit-app-\(UUID().uuidString)")
    do {
      try LocalFileSystem().makeDirectory(folder)
      folders.withLock { $0.append(folder) }
      for entry in wanted {
        let limit = kind(entry) == .text ? mostBytesOfText : mostBytesOfFile
        try write(try archive.contents(of: entry, limit: limit), to: entry.name, in: folder)
      }
    } catch {
      remove(folder)
      guard let error = error as? StreamsError else { throw error }
      throw BatchError(
        .failed, "the models of the archive cannot be unpacked",
        hint: "Set TMPDIR to a folder that can be written", effect: .nothingWritten, path: path, cause: error)
    }
    return folder
  }

  /// Removes everything that this process has unpacked.
  package static func removeAll() {
    for folder in folders.withLock({ $0 }) { remove(folder) }
    folders.withLock { $0 = [] }
  }

  private enum Kind { case model, text }

  private static func kind(_ entry: ZipEntry) -> Kind? {
    let parts = entry.name.split(separator: "/").map { String($0.split(separator: ".").last ?? "") }
    guard let last = parts.last, !entry.name.hasPrefix("__MACOSX/") else { return nil }
    if ["mom", "cdm"].contains(last) || parts.dropLast().contains(where: packages.contains) { return .model }
    return ["yaml", "yml"].contains(last) && entry.size <= mostBytesOfText ? .text : nil
  }

  private static func check(_ entries: [ZipEntry], _ path: String) throws {
    func refusal(_ message: String) -> BatchError {
      BatchError(
        .badModel, message, hint: "Get the archive again, or unpack what you trust and name that folder",
        effect: .nothingWritten, path: path)
    }
    var (names, folders, total) = (Set<String>(), Set<String>(), 0)
    for entry in entries {
      let parts = entry.name.split(separator: "/")
      for count in 1..<max(1, parts.count) { folders.insert(parts.prefix(count).joined(separator: "/")) }
      guard names.insert(entry.name).inserted else {
        throw refusal("the file \(entry.name) is in this zip archive twice")
      }
      total += min(entry.size, mostBytes)
      guard total <= mostBytes, names.count <= mostFiles else {
        throw refusal(
          "the models of this zip archive are more than \(mostBytes >> 20) MiB or \(mostFiles.grouped) files")
      }
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

  private static func remove(_ folder: String) {
    let disk = LocalFileSystem()
    for name in (try? disk.list(folder)) ?? [] {
      let path = FilePaths.join(folder, name)
      let isFolder = (try? disk.statusOfName(path))??.isDirectory == true
      if isFolder { remove(path) } else { try? disk.remove(path) }
    }
    try? disk.removeDirectory(folder)
  }
}
