import CoreDataStore
import LoadTables
import Streams
import Synchronization

/// Loads units on several sessions at a time, each by the next session that has nothing to do.
final class LoadCrew: Sendable {
  private struct State {
    var next = 0
    var failure: (any Error)?
  }

  /// Tables from so many bytes on are loaded in parts.
  static let standardPart: UInt64 = 8 << 20

  private let units: [LoadBook.Unit]
  private let progress: LoadProgress
  private let state = Mutex(State())

  init(_ units: [LoadBook.Unit], _ progress: LoadProgress) { (self.units, self.progress) = (units, progress) }

  /// The units of a load that begins: large tables fall into as many parts as there are sessions.
  static func units(_ schema: LoadSchema, _ store: LoadStore, parts: Int, leastBytes: UInt64) throws -> [LoadBook
    .Unit]
  {
    try schema.tables.indices.flatMap { table -> [LoadBook.Unit] in
      let source = store.source(of: schema.tables[table])
      let (snapshot, root) = (store.reader.snapshot, source.rootPage)
      guard !source.isWithoutRowid else { return [LoadBook.Unit(table: table)] }
      let bytes = try TablePages.count(snapshot, root: root) * UInt64(snapshot.geometry.pageSize)
      guard parts > 1, bytes >= leastBytes else { return [LoadBook.Unit(table: table)] }
      // More than are needed, so that parts have about the same size.
      let all = try TablePieces.beginnings(snapshot, root: root, count: 32 * parts)
      let beginnings = Set((1..<parts).compactMap { all[$0 * all.count / parts] }).sorted()
      let borders = [nil] + beginnings.map { Optional($0) } + [nil]
      return (1..<borders.count).map { LoadBook.Unit(table: table, after: borders[$0 - 1], upTo: borders[$0]) }
    }
  }

  /// Loads all units that are not done. The first error ends them all, and is thrown when all have ended.
  func run(_ loads: [TableLoad]) throws {
    let crew = loads.dropFirst().map { load in Member(load: load) }
    // The caller's thread does the work of those that cannot be started.
    let workers = (try? Worker.startAny(crew.map { member in { self.work(member.load) } })) ?? []
    if let first = loads.first { work(first) }
    for worker in workers { _ = worker.join() }
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  /// Throws when a unit has failed.
  func throwIfFailed() throws {
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  /// Sendable by discipline: its session is for one thread alone.
  private struct Member: @unchecked Sendable { let load: TableLoad }

  private func work(_ load: TableLoad) {
    while let number = next() {
      progress.begin(units[number].table)
      do {
        try load.run(number, unit: units[number]) { [progress] in progress.told($0, $1) }
      } catch {
        state.withLock { state in if state.failure == nil { state.failure = error } }
        // Others may wait for what its transaction holds.
        load.book.session.close()
      }
    }
  }

  private func next() -> Int? {
    state.withLock { state in
      while state.failure == nil, state.next < units.count {
        defer { state.next += 1 }
        if !units[state.next].isDone { return state.next }
      }
      return nil
    }
  }
}
