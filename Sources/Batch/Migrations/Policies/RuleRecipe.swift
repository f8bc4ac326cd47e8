import Streams

/// What the rules of a mapping do for a row, as recipes: records of further objects and of links, made without any
/// object.
///
/// It gives the same records in the same order as ``CompiledRules``. What does not fit, as a value that is no text or
/// lies outside of its row, is left to that.
final class RuleRecipe {
  /// Where links go.
  struct Join {
    /// Its place among the join tables, and its number in the output.
    var place: Int
    var table: Int
    var ownerIsSource: Bool
    var record: Unmanaged<RecordRecipe>
  }

  /// A further object, made or found.
  struct Rule {
    /// The look-up that finds it, and the source's column with the text.
    var find: (lookup: Int, column: Int)?
    /// The record of a new one, its table in the output, and where its keys are counted.
    var record: Unmanaged<RecordRecipe>
    var table: Int
    var counter: Int
    /// Its entity, by Z_ENT.
    var entity: Int
    /// The join table that links it with the mapping's own object, and the record of a link.
    var join: Join?
    /// Keys of the page at hand.
    var foreseen: Unmanaged<ForeseenKeys>?
    /// What numbers the texts once there are many; nil where it may not.
    var names: Unmanaged<NumberedNames>?
  }

  fileprivate enum Found {
    case nothing
    case old(Int64)
    case new(Int64)
  }

  // Gone through for every row, without counting references; `records` holds what rules refer to.
  private let rules: UnsafeMutableBufferPointer<Rule>
  private let found: UnsafeMutableBufferPointer<Found>
  private let records: [RecordRecipe]
  private let foreseen: [ForeseenKeys]
  private let names: [NumberedNames?]
  private let own: Unmanaged<RecordRecipe>
  private let table: Int
  private let offset: Int64
  private let manager: Unmanaged<StepObjects>
  /// Links that the row at hand was given.
  @exclusivity(unchecked) private var linked = 0

  /// Prepares rules; `manager` must outlive them.
  init(
    _ mapping: CompiledMapping, own: RecordRecipe, rules list: [Rule], records: [RecordRecipe], manager: StepObjects
  ) {
    self.records = records + [own]
    self.own = Unmanaged.passUnretained(own)
    (table, offset) = (mapping.destination.table, mapping.offset)
    self.manager = Unmanaged.passUnretained(manager)
    foreseen = list.map { _ in ForeseenKeys(tag: LookupTable.text) }
    names = list.map { rule in
      list.count { $0.counter == rule.counter } == 1 ? NumberedNames(rule, of: mapping, manager: manager) : nil
    }
    rules = .allocate(capacity: list.count)
    _ = rules.initialize(from: list)
    for place in rules.indices where rules[place].find != nil {
      rules[place].foreseen = Unmanaged.passUnretained(foreseen[place])
      rules[place].names = names[place].map { Unmanaged.passUnretained($0) }
    }
    found = .allocate(capacity: list.count)
    found.initialize(repeating: .nothing)
  }

  deinit {
    rules.deallocate()
    found.deallocate()
  }

  /// Looks for the keys of all rows of a page.
  func foresee(_ page: RowPage, entityPosition: Int) throws {
    try manager._withUnsafeGuaranteedRef { manager in
      for place in rules.indices {
        guard let find = rules[place].find else { continue }
        if let names = names[place], page.count > 0 {
          try names.begin(before: page.rowid(0), entityPosition: entityPosition)
          if names.isActive { continue }
        }
        let keys = foreseen[place]
        keys.removeAll()
        for row in 0..<page.count {
          let text = manager.locator.text(find.column, of: page.record(row))
          keys.append(text.flatMap { LookupTable.isPlain($0) ? $0 : nil })
        }
        try manager.lookups.foresee(at: find.lookup, keys)
      }
    }
  }

  /// Migrates the row that was located last, one of the page that was foreseen; false, and nothing is done, where that
  /// needs objects.
  func migrate(_ key: Int64, row: Int) throws -> Bool {
    try manager._withUnsafeGuaranteedRef { try migrate(key, row: row, manager: $0) }
  }

  private func migrate(_ key: Int64, row: Int, manager: StepObjects) throws -> Bool {
    for rule in rules { rule.names?._withUnsafeGuaranteedRef { $0.beginRow() } }
    guard manager.locator.isWhole(), try find(row, manager) else { return false }
    manager.locator.set(rowid: key)
    let mark = manager.output.mark
    guard appendRecords(key, manager) else {
      undo(mark, manager)
      return false
    }
    noteLinks(key &+ offset, manager)
    for place in rules.indices {
      guard case .new(let key) = found[place], let find = rules[place].find else { continue }
      if let names = rules[place].active {
        try names._withUnsafeGuaranteedRef { try $0.checkNew(key) }
        continue
      }
      try manager.lookups.add(at: find.lookup, manager.locator, find.column, key: key, entity: rules[place].entity)
    }
    return true
  }

  /// Finds the rules' objects, and gives keys to new ones; false where a value is no text.
  private func find(_ row: Int, _ manager: StepObjects) throws -> Bool {
    for place in rules.indices {
      guard let object = try find(rules[place], row: row, manager: manager) else {
        forgetKeys(before: place, manager)
        return false
      }
      found[place] = object
    }
    return true
  }

  private func find(_ rule: Rule, row: Int, manager: StepObjects) throws -> Found? {
    if let find = rule.find {
      let names = rule.active
      if names == nil, let entry = rule.foreseen?._withUnsafeGuaranteedRef({ $0.entry(row) }) { return .old(entry.key) }
      if manager.locator.isNull(find.column) { return .nothing }
      guard manager.locator.isText(find.column) else { return nil }
      if let names {
        let text = TaggedKey(tag: LookupTable.text, body: manager.locator.column(find.column).body)
        if let entry = try names._withUnsafeGuaranteedRef({ try $0.object(of: text) }) { return .old(entry.key) }
        return .new(takeKey(rule.counter, manager))
      }
      if let entry = try self.find(find, foreseen: rule.foreseen, row: row, manager: manager) { return .old(entry.key) }
    }
    return .new(takeKey(rule.counter, manager))
  }

  private func takeKey(_ counter: Int, _ manager: StepObjects) -> Int64 {
    manager.nextKeys[counter] += 1
    return manager.nextKeys[counter] - 1
  }

  private func find(
    _ find: (lookup: Int, column: Int), foreseen: Unmanaged<ForeseenKeys>?, row: Int, manager: StepObjects
  ) throws -> SpillingMap.Entry? {
    try foreseen?._withUnsafeGuaranteedRef { keys in
      keys.isAsked(row)
        ? try manager.lookups.findInserted(at: find.lookup, keys, row)
        : try manager.lookups.find(at: find.lookup, manager.locator, find.column)
    }
  }

  private func appendRecords(_ key: Int64, _ manager: StepObjects) -> Bool {
    linked = 0
    func append(_ record: Unmanaged<RecordRecipe>, to table: Int, key: Int64) -> Bool {
      record._withUnsafeGuaranteedRef { $0.append(manager.locator, to: manager.output, table: table, rowid: key) }
    }
    for place in rules.indices {
      guard let join = rules[place].join, let other = found[place].key else { continue }
      manager.locator.give(other)
      guard append(join.record, to: join.table, key: manager.nextKeys[join.table]) else { return false }
      manager.nextKeys[join.table] += 1
      linked += 1
    }
    guard append(own, to: table, key: key &+ offset) else { return false }
    for place in rules.indices {
      guard case .new(let key) = found[place] else { continue }
      guard append(rules[place].record, to: rules[place].table, key: key) else { return false }
    }
    return true
  }

  private func noteLinks(_ own: Int64, _ manager: StepObjects) {
    for place in rules.indices {
      guard let join = rules[place].join, let other = found[place].key else { continue }
      let (source, destination) = join.ownerIsSource ? (own, other) : (other, own)
      manager.noteLink(join.place, source: source, destination: destination)
    }
  }

  /// Takes back what was done for a row.
  private func undo(_ mark: RecordPage.Mark, _ manager: StepObjects) {
    manager.output.forget(behind: mark)
    for place in rules.indices where found[place].key != nil && linked > 0 {
      guard let join = rules[place].join else { continue }
      manager.nextKeys[join.table] -= 1
      linked -= 1
    }
    forgetKeys(before: rules.count, manager)
  }

  private func forgetKeys(before place: Int, _ manager: StepObjects) {
    for place in 0..<place {
      if case .new = found[place] { manager.nextKeys[rules[place].counter] -= 1 }
    }
  }
}

extension RuleRecipe.Rule {
  /// What numbers the texts, where it does already.
  fileprivate var active: Unmanaged<NumberedNames>? {
    @inline(__always) get {
      guard let names, names._withUnsafeGuaranteedRef({ $0.isActive }) else { return nil }
      return names
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
