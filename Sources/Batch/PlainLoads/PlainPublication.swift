import Foundation
import RunSupport
import Streams

/// Gives the files of a load their names: the record types, the list of rejected objects, and the file itself, with
/// which the load is done. What a process that died here had named before is known by its inode, and taken back by the
/// next one.
struct PlainPublication: Codable {
  private struct Item: Codable {
    var from: String
    var to: String
    var device: UInt64
    var inode: UInt64
  }

  private var items: [Item] = []

  /// Adds a file. The one that is added last is that with which all is done.
  mutating func add(_ from: String, as to: String, _ fileSystem: any FileSystem) throws {
    guard let status = try fileSystem.statusOfName(from) else {
      throw BatchError(.failed, "a file of the load is gone", hint: "Does another program clean up here?", path: from)
    }
    items.append(Item(from: from, to: to, device: status.device, inode: status.inode))
  }

  /// Names all, durably. After an error nothing has its name.
  func run(notedAt note: String, _ fileSystem: any FileSystem) throws {
    try fileSystem.writeDurably([UInt8](try JSONEncoder().encode(self)), to: note)
    do {
      for item in items { try fileSystem.rename(item.from, to: item.to) }
      for folder in Set(items.map { FilePaths.directory(of: $0.to) }) { try fileSystem.syncDirectory(folder) }
    } catch {
      takeBack(fileSystem)
      throw error
    }
  }

  /// Takes back what a process that died had named, unless all was.
  static func settle(notedAt note: String, _ fileSystem: any FileSystem) throws {
    guard try fileSystem.statusOfName(note) != nil,
      let found = try? JSONDecoder().decode(
        PlainPublication.self, from: Data(try fileSystem.readAll(note, cap: 1 << 16)))
    else { return }
    if let last = found.items.last, isThere(last, at: last.to, fileSystem) { return }
    found.takeBack(fileSystem)
  }

  private func takeBack(_ fileSystem: any FileSystem) {
    for item in items {
      for path in [item.to, item.from] where Self.isThere(item, at: path, fileSystem) { try? fileSystem.remove(path) }
    }
  }

  private static func isThere(_ item: Item, at path: String, _ fileSystem: any FileSystem) -> Bool {
    guard let status = try? fileSystem.statusOfName(path) else { return false }
    return status.isRegularFile && (status.device, status.inode) == (item.device, item.inode)
  }
}
