import Synchronization

/// The shapes of the lines of a file, for threads that read by them.
final class ImportShapes: Sendable {
  // Whoever takes shapes takes copies: nobody else uses their rows.
  private struct Kept: @unchecked Sendable { var shapes: [ImportShape] = [] }
  private let state = Mutex(Kept())

  func keep(_ shapes: [ImportShape]) {
    let copies = Kept(shapes: shapes.map { $0.copy() })
    state.withLock { $0 = copies }
  }

  func copies() -> [ImportShape] { state.withLock { $0 }.shapes.map { $0.copy() } }
}

/// Counts the pieces of a file. One thread at a time uses it.
final class PieceCount: @unchecked Sendable {
  // Sendable: who uses it next has waited for the one before.
  private(set) var value = 0

  func next() -> Int {
    defer { value += 1 }
    return value
  }
}
