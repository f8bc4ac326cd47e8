import CoreDataStore
import Glibc
import RunSupport
import Streams

/// Two states of a table with objects, and what differs between two of their rows.
final class ContentsPair {
  /// The root, or the entities that are meant.
  let name: String
  let pairing: ContentsUnit.Pairing
  /// The entities that either state has in it, in order.
  let entities: [String]
  let old: ContentsSide?
  let new: ContentsSide?
  /// Names of columns that both have, in order.
  let shared: [String]
  /// Bytes of the table in both states.
  let bytes: Double
  /// Whether rows of equal bytes are equal objects.
  private let hasOneShape: Bool
  private let files: ExternalComparison
  private let (oldRow, newRow) = (RecordDecoder(), RecordDecoder())
  private(set) var counts: [String: ContentsCount] = [:]
  /// Ordered lists that both states have, and where their members stand.
  private let lists: [(old: ContentsSide.List, new: ContentsSide.List)]
  private var places: ContentsPlaces?
  private static let mostLists = 255

  init(
    _ unit: ContentsUnit, old: ContentsSide?, new: ContentsSide?, files: ExternalComparison, memory: MemoryBudget,
    fileSystem: any FileSystem
  ) throws {
    bytes = try [old, new].compactMap { $0 }.reduce(0) { try $0 + $1.reader.bytes(of: $1.schema) }
    (name, pairing, self.old, self.new, self.files) = (unit.name, unit.pairing, old, new, files)
    entities = unit.entities.sorted(by: NameOrder.codeUnits)
    let both = (old?.columns.keys.filter { new?.columns[$0] != nil } ?? []).sorted(by: NameOrder.codeUnits)
    var lists: [(old: ContentsSide.List, new: ContentsSide.List)] = []
    for name in both where lists.count < Self.mostLists {
      if let left = old?.lists[name], let right = new?.lists[name] { lists.append((left, right)) }
    }
    // Of a number in a list only the place that it stands for is compared.
    let numbers = Set(lists.map(\.new.order.name))
    (shared, self.lists) = (both.filter { !numbers.contains($0) }, lists)
    places = lists.isEmpty ? nil : ContentsPlaces(memory: memory, fileSystem: fileSystem)
    hasOneShape = old?.schema.columns == new?.schema.columns && old?.entities == new?.entities
  }

  /// Whether both states have a column of that name.
  func has(_ key: String) -> Bool { old?.find(key) != nil && new?.find(key) != nil }

  /// Columns of one state alone.
  var unshared: [String] {
    guard let old, let new else { return [] }
    let (left, right) = (Set(old.columns.keys), Set(new.columns.keys))
    return left.symmetricDifference(right).sorted(by: NameOrder.codeUnits)
  }

  /// The change from a row to another, or from and to none; nil for what is equal.
  func change(
    _ oldRecord: (key: Int64, bytes: UnsafeRawBufferPointer)?, _ newRecord: (key: Int64, bytes: UnsafeRawBufferPointer)?
  ) throws -> ContentsChange? {
    if let oldRecord, let newRecord { return try compare(oldRecord, newRecord) }
    if let newRecord, let new {
      return try whole(.added, newRecord, of: new, by: newRow) { .init(name: $0, old: nil, new: $1) }
    }
    if let oldRecord, let old {
      return try whole(.removed, oldRecord, of: old, by: oldRow) { .init(name: $0, old: $1, new: nil) }
    }
    return nil
  }

  private func decode(
    _ row: RecordDecoder, _ record: (key: Int64, bytes: UnsafeRawBufferPointer), of side: ContentsSide
  ) throws {
    guard row.decode(record.bytes) else {
      throw BatchError(
        .badStore, "a row of \(side.schema.name) is damaged", path: side.reader.path, key: record.key)
    }
  }

  private func whole(
    _ kind: ContentsChange.Kind, _ record: (key: Int64, bytes: UnsafeRawBufferPointer), of side: ContentsSide,
    by row: RecordDecoder, value: (String, String) -> ContentsChange.Value
  ) throws -> ContentsChange {
    try decode(row, record, of: side)
    let names = side.columns.keys.sorted(by: NameOrder.codeUnits)
    let values = try names.compactMap { name -> ContentsChange.Value? in
      guard let column = side.columns[name], try side.value(column, row) != .null else { return nil }
      return value(name, try side.json(column, row))
    }
    let entity = side.entity(row)
    let isNew = kind == .added
    try look(for: side.references(row), of: entity, key: record.key, in: side, isOld: !isNew)
    if isNew { counts[entity, default: .init()].added += 1 } else { counts[entity, default: .init()].removed += 1 }
    return ContentsChange(
      kind: kind, entity: entity, oldKey: isNew ? nil : record.key, newKey: isNew ? record.key : nil, values: values)
  }

  private func compare(
    _ oldRecord: (key: Int64, bytes: UnsafeRawBufferPointer), _ newRecord: (key: Int64, bytes: UnsafeRawBufferPointer)
  ) throws -> ContentsChange? {
    guard let old, let new else { return nil }
    try decode(newRow, newRecord, of: new)
    let entity = new.entity(newRow)
    let isSame = hasOneShape && Self.haveEqualBytes(oldRecord.bytes, newRecord.bytes)
    let references = new.references(newRow)
    if !isSame || places != nil || !references.isEmpty { try decode(oldRow, oldRecord, of: old) }
    try notePlaces(oldRecord.key, newRecord.key)
    guard !isSame || !references.isEmpty else {
      counts[entity, default: .init()].same += 1
      return nil
    }
    try look(for: references, of: entity, key: newRecord.key, in: new, isOld: false)
    let earlier = old.entity(oldRow)
    try look(for: old.references(oldRow), of: earlier, key: oldRecord.key, in: old, isOld: true)
    var values: [ContentsChange.Value] = []
    if earlier != entity { values.append(.init(name: "@entity", old: quoted(earlier), new: quoted(entity))) }
    // Rows of the same bytes differ in their files alone.
    values += try differences(of: isSame ? references.map(\.column.name) : shared, old, new)
    guard values.isEmpty else {
      counts[entity, default: .init()].changed += 1
      return ContentsChange(
        kind: .changed, entity: entity, oldKey: oldRecord.key, newKey: newRecord.key, values: values)
    }
    countEqual(of: entity, old, new)
    return nil
  }

  /// Z_OPT grows with every save.
  private func countEqual(of entity: String, _ old: ContentsSide, _ new: ContentsSide) {
    let isSaved = old.lock.flatMap { oldRow.integer($0) } != new.lock.flatMap { newRow.integer($0) }
    if isSaved { counts[entity, default: .init()].saved += 1 } else { counts[entity, default: .init()].same += 1 }
  }

  private func look(
    for references: [(column: ContentsSide.Column, file: String)], of entity: String, key: Int64,
    in side: ContentsSide, isOld: Bool
  ) throws {
    for (column, file) in references {
      try files.look(for: file, of: "\(entity).\(column.name)", key: key, in: side.files, isOld: isOld)
    }
  }

  /// The values of the rows at hand that are not equal.
  private func differences(of names: [String], _ old: ContentsSide, _ new: ContentsSide) throws
    -> [ContentsChange.Value]
  {
    try names.compactMap { name in
      guard let left = old.columns[name], let right = new.columns[name],
        try !areEqual(left, of: old, right, of: new)
      else { return nil }
      var texts = (try old.json(left, oldRow), try new.json(right, newRow))
      // Dates are shown with microseconds, and may differ by less; of files the size is shown.
      if texts.0 == texts.1 {
        texts = (try old.json(left, oldRow, isExact: true), try new.json(right, newRow, isExact: true))
      }
      return .init(name: name, old: texts.0, new: texts.1)
    }
  }

  private func areEqual(
    _ left: ContentsSide.Column, of old: ContentsSide, _ right: ContentsSide.Column, of new: ContentsSide
  ) throws -> Bool {
    let (first, second) = (try old.value(left, oldRow), try new.value(right, newRow))
    if case .text(let text) = first, case .text = second {
      // Bytes that are no UTF-8 were replaced.
      guard first == second, text.unicodeScalars.contains("\u{FFFD}"), old.hasEncoding(of: new),
        max(left.position, right.position) < min(oldRow.columnCount, newRow.columnCount)
      else { return first == second }
      return Self.haveEqualBytes(oldRow.body(left.position), newRow.body(right.position))
    }
    guard left.mayBeExternal || right.mayBeExternal, case .blob(let bytes) = first, case .blob(let others) = second
    else { return Self.areEqual(first, second) }
    return try files.areEqual(
      old.content(of: bytes, left, oldRow), in: old.files, new.content(of: others, right, newRow), in: new.files)
  }

  /// Notes where an object stands in the lists of owners that it has in both states.
  private func notePlaces(_ oldKey: Int64, _ newKey: Int64) throws {
    guard let places, let new else { return }
    for (index, list) in lists.enumerated() {
      guard let owner = newRow.integer(list.new.owner.position), owner == oldRow.integer(list.old.owner.position)
      else { continue }
      var mark: [UInt8] = []
      for number in [newKey, oldKey, newRow.integer(new.number) ?? 0] { mark.append(ordered: number) }
      mark.append(UInt8(index))
      try places.add(
        index, of: owner, old: oldRow.integer(list.old.order.position) ?? .min,
        new: newRow.integer(list.new.order.position) ?? .min, mark: mark)
    }
  }

  /// Calls `body` with each object that stands in another place of a list, when all rows are compared.
  func findMoved(_ body: (ContentsChange) throws -> Void) throws {
    guard let places, let new else { return }
    // Its memory is for the next table.
    defer { self.places = nil }
    var waiting: ContentsChange?
    try places.find { mark, before, place in
      let (newKey, oldKey) = (mark.ordered(at: 0), mark.ordered(at: 8))
      let name = lists[Int(mark[24])].new.owner.name + "@place"
      let value = ContentsChange.Value(name: name, old: "\(before)", new: "\(place)")
      if waiting?.newKey == newKey, waiting?.oldKey == oldKey {
        waiting?.values.append(value)
        return
      }
      if let waiting { try body(waiting) }
      let entity = new.entity(mark.ordered(at: 16))
      counts[entity, default: .init()].moved += 1
      waiting = ContentsChange(kind: .moved, entity: entity, oldKey: oldKey, newKey: newKey, values: [value])
    }
    if let waiting { try body(waiting) }
  }

  private func quoted(_ name: String) -> String {
    String(decoding: ExportText.prepared(name, .jsonLines), as: UTF8.self)
  }

  private static func haveEqualBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard left.count == right.count, let first = left.baseAddress, let second = right.baseAddress else { return false }
    return memcmp(first, second, left.count) == 0
  }

  /// A whole double may be stored as an integer.
  private static func areEqual(_ left: Value, _ right: Value) -> Bool {
    switch (left, right) {
    case (.integer(let integer), .real(let double)), (.real(let double), .integer(let integer)):
      Double(integer) == double && Int64(exactly: double) == integer
    default: left == right
    }
  }
}
