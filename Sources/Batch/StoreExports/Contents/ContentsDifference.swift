import CoreDataModel
import CoreDataStore
import Foundation
import RunSupport
import Streams

/// Compares the objects and links of two states of one store, as two days of a backup: what was added, removed and
/// changed. Both are read page by page, so memory does not grow with their objects.
public struct ContentsDifference: Sendable {
  /// How states are compared.
  public struct Options: Sendable {
    /// Objects of the table of this entity alone; nil for all, and links.
    public var entity: String?
    /// An attribute, or a column, by which objects are the same in both states; nil for Z_PK. Tables without it are
    /// compared by Z_PK, and a note says so.
    public var key: String?
    /// The memory budget.
    public var memory = MemoryBudget.standard

    /// Makes options.
    public init() {}
  }

  /// What was found.
  public struct Summary: Sendable {
    /// By entity, and by join table.
    public var counts: [String: ContentsCount] = [:]
    /// What could not be compared.
    public var notes: [String] = []
    /// Whether one of the states alone has some properties.
    public var isPartial = false
  }

  private let old: StoreReader
  private let new: StoreReader
  private let bindings: (old: StoreBinding, new: StoreBinding)?
  private let options: Options
  private let fileSystem: any FileSystem

  /// Prepares a comparison. With the models of both states properties have their names; otherwise columns have.
  public init(
    from old: StoreReader, to new: StoreReader, models: (old: ManagedObjectModel, new: ManagedObjectModel)?,
    options: Options, fileSystem: any FileSystem
  ) {
    (self.old, self.new, self.options, self.fileSystem) = (old, new, options, fileSystem)
    if let models, let left = try? StoreBinding(old, model: models.old),
      let right = try? StoreBinding(new, model: models.new)
    {
      bindings = (left, right)
    } else {
      bindings = nil
    }
  }

  /// Calls `body` with every change: table by table, in the order of keys; links last. `progress` is called now and
  /// then with the objects compared, and with the part of the work that is done, from 0 to 1.
  ///
  /// - Throws: ``BatchError``: `badStore`, `refused` for an entity that neither state has, and for a key that not both
  ///   have; and what `body` throws.
  public func run(_ body: (ContentsChange) throws -> Void, progress: @escaping (UInt64, Double) -> Void = { _, _ in })
    throws -> Summary
  {
    try BatchError.borderOfCaller {
      let (left, right) = (RawSchema(old), RawSchema(new))
      let hand = { (change: ContentsChange) in try CallersError.marking { try body(change) } }
      let files = ExternalComparison(fileSystem)
      let pairs = try ContentsTables((left, old), (right, new)).units(of: options.entity).map { unit in
        try ContentsPair(
          unit, old: unit.old.map { side($0, left, of: old, binding: bindings?.old, entities: unit.entities) },
          new: unit.new.map { side($0, right, of: new, binding: bindings?.new, entities: unit.entities) }, files: files,
          memory: options.memory, fileSystem: fileSystem)
      }
      var summary = Summary()
      summary.notes = try ContentsNotes(old: old, new: new, options: options).list(pairs)
      summary.isPartial = pairs.contains { !$0.unshared.isEmpty }
      let links = options.entity == nil ? LinkTables((left, bindings?.old), (right, bindings?.new)) : nil
      let meter = ContentsMeter(total: try work(pairs, links?.pairs ?? []), progress)
      try compare(pairs, links: links, into: &summary, hand, meter: meter)
      summary.notes += files.notes
      return summary
    }
  }

  private func side(
    _ part: ContentsUnit.Part, _ schema: RawSchema, of reader: StoreReader, binding: StoreBinding?,
    entities: Set<String>
  ) -> ContentsSide {
    ContentsSide(part, schema, of: reader, binding: binding, entities: entities, fileSystem: fileSystem)
  }

  private func compare(
    _ pairs: [ContentsPair], links: LinkTables?, into summary: inout Summary,
    _ body: (ContentsChange) throws -> Void, meter: ContentsMeter
  ) throws {
    try options.memory.advising {
      try compare(pairs, into: &summary, body, meter: meter)
      guard let links else { return }
      let difference = LinkDifference(old: old, new: new, memory: options.memory, fileSystem: fileSystem)
      try difference.run(links, into: &summary, body, meter: meter)
    }
  }

  private func compare(
    _ pairs: [ContentsPair], into summary: inout Summary, _ body: (ContentsChange) throws -> Void,
    meter: ContentsMeter
  ) throws {
    for pair in pairs {
      try compare(pair, body, meter: meter)
      try pair.findMoved(body)
      // Objects of an entity may lie in several tables.
      for (entity, count) in pair.counts { summary.counts[entity, default: .init()] += count }
      let rows = pair.counts.values.reduce(0) { $0 + $1.same + $1.saved + $1.changed + $1.added + $1.removed }
      meter.finish(rows: rows, bytes: work(pair))
    }
  }

  /// Bytes to be read of both states, with their weight.
  private func work(_ pairs: [ContentsPair], _ links: [LinkPair]) throws -> Double {
    let bytes = try links.reduce(0.0) { sum, pair in
      try sum + (pair.old.map { try old.bytes(of: $0.schema) } ?? 0)
        + (pair.new.map { try new.bytes(of: $0.schema) } ?? 0)
    }
    return pairs.reduce(bytes) { $0 + work($1) }
  }

  private func work(_ pair: ContentsPair) -> Double {
    pair.bytes * (sides(pair) == nil ? 1 : 1 + ContentsMeter.lookupWeight)
  }

  /// Both states of a pair that is compared by another key.
  private func sides(_ pair: ContentsPair) -> (key: String, old: ContentsSide, new: ContentsSide)? {
    guard let key = options.key, let old = pair.old, let new = pair.new, pair.has(key) else { return nil }
    return (key, old, new)
  }

  private func compare(
    _ pair: ContentsPair, _ body: (ContentsChange) throws -> Void, meter: ContentsMeter
  ) throws {
    if let (key, old, new) = sides(pair) {
      let merge = KeyedMerge(pair: pair, key: key, memory: options.memory, fileSystem: fileSystem)
      return try merge.run(from: old, to: new, body, meter: meter)
    }
    // Half of what a run may put together for each state.
    let limit = options.memory.rowLimit / 2
    let (left, right) = (
      pair.old.map { RowCursor($0, rowLimit: limit) }, pair.new.map { RowCursor($0, rowLimit: limit) }
    )
    var done: UInt64 = 0
    while true {
      let (first, second) = (try left?.current(), try right?.current())
      guard first != nil || second != nil else { return }
      let isOld = first.map { one in second.map { pair.pairing == .apart || one.key <= $0.key } ?? true } ?? false
      let isNew = second.map { one in first.map { pair.pairing != .apart && one.key <= $0.key } ?? true } ?? false
      if let change = try pair.change(isOld ? first : nil, isNew ? second : nil) { try body(change) }
      if isOld { left?.advance() }
      if isNew { right?.advance() }
      done += 1
      if done & 0xFFF == 0 { meter.show(rows: done, bytes: Double((left?.bytesRead ?? 0) + (right?.bytesRead ?? 0))) }
    }
  }
}

extension ContentsSide {
  /// The column of an attribute, or of that name.
  func find(_ name: String) -> Column? {
    columns[name]
      ?? columns.values.first {
        $0.position < schema.columns.count
          && NameOrder.folded(schema.columns[$0.position].name) == NameOrder.folded(name)
      }
  }
}
