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
  /// then with the objects compared.
  ///
  /// - Throws: ``BatchError``: `badStore`, `refused` for an entity that neither state has, and for a key that not both
  ///   have; and what `body` throws.
  public func run(_ body: (ContentsChange) throws -> Void, progress: (UInt64) -> Void = { _ in }) throws -> Summary {
    try BatchError.borderOfCaller {
      let (left, right) = (RawSchema(old), RawSchema(new))
      var summary = Summary()
      let names = try names(left, right)
      let hand = { (change: ContentsChange) in try CallersError.marking { try body(change) } }
      var compared: UInt64 = 0
      let pairs = names.map { name in
        ContentsPair(
          old: side(name, left, of: old, binding: bindings?.old),
          new: side(name, right, of: new, binding: bindings?.new), memory: options.memory, fileSystem: fileSystem)
      }
      summary.notes += try keyNotes(zip(names, pairs).map { (name: $0, pair: $1) })
      for (name, pair) in zip(names, pairs) {
        if !pair.unshared.isEmpty {
          summary.notes.append("\(name): only one state has \(pair.unshared.joined(separator: ", "))")
        }
        try compare(pair, hand) { progress(compared + $0) }
        try pair.findMoved(hand)
        for (entity, count) in pair.counts { summary.counts[entity] = count }
        compared += pair.counts.values.reduce(0) { $0 + $1.same + $1.saved + $1.changed + $1.added + $1.removed }
      }
      if options.entity == nil {
        let links = LinkDifference(old: old, new: new, memory: options.memory, fileSystem: fileSystem)
        try links.run(from: left, to: right, into: &summary, hand)
      }
      return summary
    }
  }

  /// What is to be known of how objects are found again. Throws `refused` for a key that no table of both states has.
  private func keyNotes(_ pairs: [(name: String, pair: ContentsPair)]) throws -> [String] {
    let areStrangers = old.metadata.uuid != new.metadata.uuid
    guard let key = options.key else {
      return areStrangers
        ? [
          "the stores have different UUIDs, so objects of one Z_PK may be different ones: compare them by an attribute "
            + "that objects keep, with --by ATTRIBUTE"
        ] : []
    }
    guard pairs.contains(where: { $0.pair.has(key) }) else {
      let known = Set(pairs.flatMap { $0.pair.shared }).sorted(by: NameOrder.codeUnits)
      let owner = options.entity.map { "\($0) has no attribute" } ?? "no entity has an attribute"
      throw BatchError(
        .refused, "\(owner) \(key) in both stores\(NearName.question(key, in: known))",
        hint: options.entity.map { "\($0) has \(known.joined(separator: ", "))" }
          ?? "With --entity ENTITY the attributes are listed",
        path: new.path)
    }
    let others = pairs.filter { $0.pair.old != nil && $0.pair.new != nil && !$0.pair.has(key) }
    let strangers = "the stores have different UUIDs: relationships and links are compared by Z_PK all the same"
    return others.map { "\($0.name): compared by Z_PK, as it has no \(key)" } + (areStrangers ? [strangers] : [])
  }

  private func names(_ left: RawSchema, _ right: RawSchema) throws -> [String] {
    func objects(_ schema: RawSchema) -> [String] {
      schema.tables.filter { if case .objects = $0.content { true } else { false } }.map(\.name)
    }
    guard let entity = options.entity else {
      return Set(objects(left) + objects(right)).sorted(by: NameOrder.codeUnits)
    }
    if let found = try? right.find(entity, in: new) { return [found.table.name] }
    return [try left.find(entity, in: old).table.name]
  }

  private func side(
    _ name: String, _ schema: RawSchema, of reader: StoreReader, binding: StoreBinding?
  ) -> ContentsSide? {
    schema.tables.first { $0.name == name }.map { ContentsSide($0, schema, of: reader, binding: binding) }
  }

  private func compare(
    _ pair: ContentsPair, _ body: (ContentsChange) throws -> Void, progress: (UInt64) -> Void
  ) throws {
    if let key = options.key, let old = pair.old, let new = pair.new, pair.has(key) {
      let merge = KeyedMerge(pair: pair, key: key, memory: options.memory, fileSystem: fileSystem)
      return try merge.run(from: old, to: new, body, progress: progress)
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
      let isOld = first.map { one in second.map { one.key <= $0.key } ?? true } ?? false
      let isNew = second.map { one in first.map { one.key <= $0.key } ?? true } ?? false
      if let change = try pair.change(isOld ? first : nil, isNew ? second : nil) { try body(change) }
      if isOld { left?.advance() }
      if isNew { right?.advance() }
      done += 1
      if done & 0xFFF == 0 { progress(done) }
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
