import CoreDataStore
import Foundation
import Streams

/// What a plan was made of: file, contents, identity and version of the store. Another sighting means another plan.
struct StoreSighting: Equatable {
  /// What can be had without the pages. In WAL mode a change may show in the time alone.
  private struct Outline: Equatable {
    let file: FileIdentity?
    let size: UInt64
    let header: DatabaseHeader
    let logSalts: UInt64
    let logFrames: Int
    let isRecovered: Bool

    init(_ reader: StoreReader, _ fileSystem: any FileSystem) throws {
      let snapshot = reader.snapshot
      file = try fileSystem.status(reader.path).map { FileIdentity($0) }
      (size, header) = (snapshot.fileSize, snapshot.header)
      (logSalts, logFrames, isRecovered) = (snapshot.logSalts, snapshot.logFrames, reader.isRecovered)
    }

    /// Whether a change after `now` has another time: file systems have ticks, some of two seconds.
    func isSettled(at now: Date) -> Bool {
      guard let file, !isRecovered else { return false }
      return now.timeIntervalSince1970 - Double(file.modified) / 1e9 > StoreSighting.longestTick
    }
  }

  private static let longestTick = 3.0

  let state: StoreState
  var inode: UInt64 { outline.file?.inode ?? 0 }
  private let mark: StoreMark
  private let outline: Outline
  private let isSettled: Bool

  /// Looks at a store that is open. Nothing is written.
  init(_ reader: StoreReader, _ fileSystem: any FileSystem) throws {
    outline = try Outline(reader, fileSystem)
    isSettled = outline.isSettled(at: Date())
    state = try StoreState(reader.path, snapshot: reader.snapshot, fileSystem: fileSystem)
    mark = StoreMark(reader.metadata)
  }

  /// Looks again. Pages are read only where a change may not show without them.
  func again(_ reader: StoreReader, _ fileSystem: any FileSystem) throws -> StoreSighting {
    if isSettled, try Outline(reader, fileSystem) == outline { return self }
    return try StoreSighting(reader, fileSystem)
  }

  static func == (left: StoreSighting, right: StoreSighting) -> Bool {
    (left.state, left.mark, left.outline) == (right.state, right.mark, right.outline)
  }
}
