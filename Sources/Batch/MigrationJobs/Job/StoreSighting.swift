import CoreDataStore
import Streams

/// What a plan was made of: file, contents, identity and version of the store. Another sighting means another plan.
struct StoreSighting: Equatable {
  /// What every write changes, and can be had without the pages.
  private struct Outline: Equatable {
    let device: UInt64
    let inode: UInt64
    let modified: Int64
    let size: UInt64
    let header: DatabaseHeader
    let logSalts: UInt64
    let logFrames: Int

    init(_ reader: StoreReader, _ fileSystem: any FileSystem) throws {
      let (status, snapshot) = (try fileSystem.status(reader.path), reader.snapshot)
      (device, inode, modified) = (status?.device ?? 0, status?.inode ?? 0, status?.modified ?? 0)
      (size, header) = (snapshot.fileSize, snapshot.header)
      (logSalts, logFrames) = (snapshot.logSalts, snapshot.logFrames)
    }
  }

  let state: StoreState
  var inode: UInt64 { outline.inode }
  private let mark: StoreMark
  private let outline: Outline

  /// Looks at a store that is open. Nothing is written.
  init(_ reader: StoreReader, _ fileSystem: any FileSystem) throws {
    try self.init(reader, outline: Outline(reader, fileSystem), fileSystem)
  }

  private init(_ reader: StoreReader, outline: Outline, _ fileSystem: any FileSystem) throws {
    state = try StoreState(reader.path, snapshot: reader.snapshot, fileSystem: fileSystem)
    (mark, self.outline) = (StoreMark(reader.metadata), outline)
  }

  /// Looks again. Where file, time, header and log are those that were seen, so are the pages: the run reads them once
  /// more before it ends.
  func again(_ reader: StoreReader, _ fileSystem: any FileSystem) throws -> StoreSighting {
    let now = try Outline(reader, fileSystem)
    return now == outline ? self : try StoreSighting(reader, outline: now, fileSystem)
  }
}
