import RunSupport
import Streams

/// Reads zip archives that come from anywhere: stored and deflated files, also of archives over 4 GB. Of the file only
/// its directory and what is asked for is read.
///
/// An archive whose directory contradicts itself, names a path that leads out of it, or has files that share bytes is
/// refused as a whole.
package final class ZipArchive {
  private let file: any File
  private let path: String
  private let size: Int
  /// Its files, in the order of the directory.
  package private(set) var entries: [ZipEntry] = []

  /// Reads the directory of an archive.
  ///
  /// Throws ``BatchError`` (`badModel`) for what is no archive, and for one that is refused.
  package init(path: String, _ fileSystem: any FileSystem = LocalFileSystem()) throws {
    file = try fileSystem.open(path, .read)
    self.path = path
    size = Int(clamping: try file.size())
    do { try readDirectory() } catch {
      file.close()
      throw error
    }
  }

  package func close() { file.close() }

  /// What is wrong with an archive, or with a file of it.
  static func damage(_ what: String) -> ArchiveDamage { ArchiveDamage(what) }

  struct ArchiveDamage: Error {
    let description: String
    init(_ description: String) { self.description = description }
  }

  private func readDirectory() throws {
    do {
      let directory = try ZipDirectory(fileSize: size) { try bytes($0, $1) }
      entries = try directory.entries { try bytes($0, $1) }
      try checkPlaces(before: directory.offset)
    } catch let damage as ArchiveDamage {
      throw refusal("this zip archive is not read: \(damage.description)")
    }
    for entry in entries {
      if let fault = entry.fault { throw refusal("the file \(entry.name) of this zip archive is not read: \(fault)") }
    }
  }

  /// Files that share bytes make a small archive as large as one likes.
  private func checkPlaces(before limit: Int) throws {
    var end = 0
    for entry in entries.sorted(by: { $0.offset < $1.offset }) {
      guard entry.offset >= end, entry.packedSize >= 0, entry.size >= 0,
        entry.offset <= limit - ZipEntry.headerSize,
        entry.packedSize <= limit - ZipEntry.headerSize - entry.offset
      else { throw Self.damage("its file \(entry.name) lies where another one is, or outside") }
      end = entry.offset + ZipEntry.headerSize + entry.packedSize
    }
  }

  /// The bytes of a file, at most `limit`.
  ///
  /// Throws ``BatchError`` (`badModel`) that names the file.
  package func contents(of entry: ZipEntry, limit: Int) throws -> [UInt8] {
    do { return try unpacked(entry, limit: limit) } catch let damage as ArchiveDamage {
      throw refusal("the file \(entry.name) of this zip archive is not read: \(damage.description)")
    } catch let damage as InflateDamage {
      throw refusal("the file \(entry.name) of this zip archive is not read: \(damage.description)")
    }
  }

  private func unpacked(_ entry: ZipEntry, limit: Int) throws -> [UInt8] {
    guard !entry.isLink else { throw Self.damage("it is a symbolic link") }
    guard !entry.isEncrypted else { throw Self.damage("it is encrypted") }
    guard entry.size <= limit, entry.packedSize <= limit else {
      throw Self.damage("it has more than \(limit >> 20) MiB")
    }
    let header = try bytes(at: entry.offset, count: ZipEntry.headerSize)
    guard header.starts(with: [0x50, 0x4B, 0x03, 0x04]) else { throw Self.damage("it has no header") }
    let fields = ZipFields(header, at: 0)
    let name = try bytes(at: entry.offset + ZipEntry.headerSize, count: fields.short(26))
    guard String(decoding: name, as: UTF8.self) == entry.name else {
      throw Self.damage("its header has another name, \(String(decoding: name, as: UTF8.self))")
    }
    let start = entry.offset + ZipEntry.headerSize + fields.short(26) + fields.short(28)
    let packed = try bytes(at: start, count: entry.packedSize)
    let contents =
      switch entry.method {
      case .stored: packed
      case .deflated: try Inflate.decode(packed, limit: entry.size)
      case .other(let number): throw Self.damage("it is packed by method \(number), which is not known")
      }
    guard contents.count == entry.size, Checksum32.of(contents) == entry.checksum else {
      throw Self.damage("its contents are not those that the archive promises")
    }
    return contents
  }

  /// Bytes of the file; fewer only at its end.
  private func bytes(_ offset: Int, _ count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: max(0, min(count, size - offset)))
    let read = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: UInt64(offset)) }
    return Array(bytes.prefix(read))
  }

  private func bytes(at offset: Int, count: Int) throws -> [UInt8] {
    let found = try bytes(offset, count)
    guard found.count == count else { throw Self.damage("it is cut off") }
    return found
  }

  private func refusal(_ message: String) -> BatchError {
    BatchError(
      .badModel, message, hint: "Get the archive again, or unpack what you trust and name that folder",
      effect: .nothingWritten, path: path)
  }
}
