import Synchronization

/// What files of commits say, by git's names of their contents: most versions repeat most files of the one before.
final class SourceCache: Sendable {
  private let known = Mutex<[String: SourceContents]>([:])

  func contents(of blob: String) -> SourceContents? { known.withLock { $0[blob] } }

  func keep(_ contents: SourceContents, of blob: String) { known.withLock { $0[blob] = contents } }
}
