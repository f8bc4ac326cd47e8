import Streams

/// What the rules of a mapping do for a row, as recipes: records of further objects and of links, made without any object.
///
/// It gives the same records in the same order as ``RuleProgram``. What does not fit, as a value that is no text or lies outside of
/// its row, is left to that.
final class RuleRecipe {
  /// A further object, made or found.
  struct Rule {
    /// The look-up that finds it, and the source's column with the text.
    var find: (lookup: Int, column: Int)?
    /// The record of a new one, its table in the output, and where its keys are counted.
    var record: Unmanaged<RecordProgram>
    var table: Int
    var counter: Int
    /// Its entity, by Z_ENT.
    var entity: Int
    /// The join table that links it with the mapping's own object.
    var join: (table: Int, ownerIsSource: Bool)?
  }

  fileprivate enum Found {
    case nothing
    case old(Int64)
    case new(Int64)
  }

  // Gone through for every row, without counting references; `records` holds what rules refer to.
  private let rules: UnsafeMutableBufferPointer<Rule>
  private let found: UnsafeMutableBufferPointer<Found>
  private let records: [RecordProgram]
  private let own: Unmanaged<RecordProgram>
  private let table: Int
  private let offset: Int64
  private let manager: Unmanaged<MigrationManager>

  /// Prepares rules; `manager` must outlive them.
  init(
    _ mapping: CompiledMapping, own: RecordProgram, rules list: [Rule], records: [RecordProgram], manager: MigrationManager
  ) {
    self.records = records + [own]
    self.own = Unmanaged.passUnretained(own)
    (table, offset) = (mapping.destination.table, mapping.offset)
    self.manager = Unmanaged.passUnretained(manager)
    rules = .allocate(capacity: list.count)
    _ = rules.initialize(from: list)
    found = .allocate(capacity: list.count)
    found.initialize(repeating: .nothing)
  }

  deinit {
    rules.deallocate()
    found.deallocate()
  }

  /// Migrates the row that was located last; false, and nothing is done, where that needs objects.
  func migrate(_ key: Int64) throws -> Bool { try manager._withUnsafeGuaranteedRef { try migrate(key, $0) } }

  private func migrate(_ key: Int64, _ manager: MigrationManager) throws -> Bool {
    guard !manager.locator.refers, try find(manager) else { return false }
    manager.locator.rowid = key
    let mark = manager.output.mark
    for place in rules.indices {
      guard let join = rules[place].join, let other = found[place].key else { continue }
      let owner = key &+ offset
      try manager.link(
        join.table, source: join.ownerIsSource ? owner : other, destination: join.ownerIsSource ? other : owner)
    }
    guard appendRecords(key, manager) else {
      undo(mark, manager)
      return false
    }
    for place in rules.indices {
      guard case .new(let key) = found[place], let find = rules[place].find else { continue }
      try manager.lookups.add(at: find.lookup, manager.locator, find.column, key: key, entity: rules[place].entity)
    }
    return true
  }

  /// Finds the rules' objects, and gives keys to new ones; false where a value is no text.
  private func find(_ manager: MigrationManager) throws -> Bool {
    for place in rules.indices {
      if let find = rules[place].find, !manager.locator.isNull(find.column), !manager.locator.isText(find.column) {
        forgetKeys(before: place, manager)
        return false
      }
      found[place] = try find(rules[place], manager)
    }
    return true
  }

  private func find(_ rule: Rule, _ manager: MigrationManager) throws -> Found {
    if let find = rule.find {
      guard !manager.locator.isNull(find.column) else { return .nothing }
      if let entry = try manager.lookups.find(at: find.lookup, manager.locator, find.column) { return .old(entry.key) }
    }
    manager.nextKeys[rule.counter] += 1
    return .new(manager.nextKeys[rule.counter] - 1)
  }

  private func appendRecords(_ key: Int64, _ manager: MigrationManager) -> Bool {
    func append(_ record: Unmanaged<RecordProgram>, _ table: Int, _ key: Int64) -> Bool {
      record._withUnsafeGuaranteedRef { $0.append(manager.locator, to: manager.output, table: table, rowid: key) }
    }
    guard append(own, table, key &+ offset) else { return false }
    for place in rules.indices {
      guard case .new(let key) = found[place] else { continue }
      guard append(rules[place].record, rules[place].table, key) else { return false }
    }
    return true
  }

  /// Takes back what was done for a row.
  private func undo(_ mark: RecordPage.Mark, _ manager: MigrationManager) {
    manager.output.forget(behind: mark)
    for place in rules.indices where found[place].key != nil {
      if let join = rules[place].join { manager.forgetLink(join.table) }
    }
    forgetKeys(before: rules.count, manager)
  }

  private func forgetKeys(before place: Int, _ manager: MigrationManager) {
    for place in 0..<place {
      if case .new = found[place] { manager.nextKeys[rules[place].counter] -= 1 }
    }
  }
}

extension RuleRecipe.Found {
  fileprivate var key: Int64? {
    switch self {
    case .nothing: nil
    case .old(let key), .new(let key): key
    }
  }
}
