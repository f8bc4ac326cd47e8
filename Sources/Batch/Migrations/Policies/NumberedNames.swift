import CoreDataStore
import MappingModels
import RunSupport
import Streams

/// The objects that a rule finds or creates by a text of the source's row, once there are too many for a look-up in memory.
///
/// Nobody else makes such objects, so the keys of new ones follow from the order in which their texts come first. One more pass over
/// the source's rows numbers the texts (``KeyNumbering``); from then on every row's object is known without a look-up, and
/// the look-up gets no more entries. The keys are those that look-ups would have given, so a run may begin to do so at any page. A
/// resumed run does when its look-up has fewer entries than keys were given.
final class NumberedNames: LookupStandIn {
  /// What a test can decide or hear of.
  enum Moment { case filling, numbering, catchingUp }

  /// For tests: whether the look-up is filling, and whether texts fit in memory.
  @TaskLocal static var trial: (@Sendable (Moment) -> Bool)?

  private let rule: RuleRecipe.Rule
  private let find: (lookup: Int, column: Int)
  private let source: SourceEntity
  private let manager: Unmanaged<StepObjects>
  private let firstKey: Int64
  private var isDecided = false
  @exclusivity(unchecked) private var numbering: KeyNumbering?
  /// What the row at hand was given.
  @exclusivity(unchecked) private var answer: (number: Int64, isFirst: Bool)?

  /// Nil if others may make objects of the rule's entity, give keys in its table, or look for them. `manager` must outlive it.
  init?(_ rule: RuleRecipe.Rule, of mapping: CompiledMapping, manager: StepObjects) {
    guard let find = rule.find, manager.graph.passed == nil, manager.mayNumber(rule, of: mapping) else { return nil }
    (self.rule, self.find, source) = (rule, find, mapping.source)
    self.manager = Unmanaged.passUnretained(manager)
    firstKey = manager.keys.firstNewKeys[rule.counter]
  }

  /// Whether rows are answered from here.
  var isActive: Bool {
    @inline(__always) get { numbering != nil }
  }

  /// Decides before a page, by the rowid that it begins with, whether texts are numbered from here on.
  func begin(before rowid: Int64, entityPosition: Int) throws {
    guard !isDecided else { return }
    try manager._withUnsafeGuaranteedRef { manager in
      let lookups = manager.lookups
      guard let known = lookups.knownCount(at: find.lookup) else { return }
      let given = manager.nextKeys[rule.counter] - firstKey
      // A resumed run may have been allowed rejects since.
      let (isBehind, mayBegin) = (Int64(known) < given, lookups.mayNumber && !manager.canReject)
      guard isBehind || mayBegin && Self.trial?(.filling) ?? lookups.isFilling(at: find.lookup) else { return }
      isDecided = true
      let scan = NameScan(manager, source: source, entityPosition: entityPosition, column: find.column)
      lookups.onPass(true)
      defer { lookups.onPass(false) }
      if mayBegin, let made = try number(scan, before: rowid, lookups.files) {
        guard made.passedNumbers == given else { throw misfit(given) }
        (numbering, lookups.numbered[find.lookup]) = (made, self)
      } else if isBehind {
        try catchUp(scan, before: rowid, lookups)
      }
    }
  }

  /// Numbers the texts of all rows; nil if that takes more memory than there is, or if one is not in its row.
  private func number(_ scan: NameScan, before rowid: Int64, _ files: StepFiles) throws -> KeyNumbering? {
    let numbering = try KeyNumbering(
      path: files.path("lookup.\(find.lookup)"), fileSystem: files.fileSystem,
      memoryBytes: files.budget.lookupBytes / max(1, manager._withUnsafeGuaranteedRef { $0.lookups.lookups.count }))
    var hasBegun = false
    let isWhole = try scan.forEach { row, text in
      if !hasBegun, row >= rowid {
        hasBegun = true
        numbering.beginAsked()
      }
      return try numbering.append(text, hash: TaggedKey(tag: LookupTable.text, body: text).hash)
    }
    guard isWhole else { return nil }
    if !hasBegun { numbering.beginAsked() }
    guard try numbering.number(throwIfStopped: files.throwIfStopped) else { return nil }
    return Self.trial?(.numbering) ?? true ? numbering : nil
  }

  /// Gives the look-up what it lacks: with less memory than before, or with rejects, a resumed run goes on as if texts
  /// had not been numbered.
  private func catchUp(_ scan: NameScan, before rowid: Int64, _ lookups: LookupTable) throws {
    var key = firstKey
    _ = Self.trial?(.catchingUp)
    _ = try scan.forEach { row, text in
      guard row < rowid else { return false }
      let isNew = try lookups.addIfNew(at: find.lookup, text, SpillingEntry(key: key, entity: UInt32(rule.entity)))
      if isNew { key += 1 }
      return true
    }
  }

  // MARK: Rows

  /// The row at hand is another one.
  @inline(__always)
  func beginRow() { answer = nil }

  /// The object of the row at hand; nil if it is the first of its text. The text must be that of the row.
  @inline(__always)
  func object(of text: TaggedKey) throws -> SpillingEntry? {
    if answer == nil { answer = try numbering?.next(text.hash) }
    guard let answer, !answer.isFirst else { return nil }
    return SpillingEntry(key: firstKey + answer.number, entity: UInt32(rule.entity))
  }

  /// Throws unless a new object of the row at hand got the key that was foreseen.
  func checkNew(_ key: Int64) throws {
    guard let answer, answer.isFirst, firstKey + answer.number == key else { throw misfit(key) }
  }

  private func misfit(_ key: Int64) -> BatchError {
    BatchError(
      .failed, "the texts of objects were numbered otherwise than their rows come",
      hint: "Please report this. Nothing is lost: the source is unchanged", entity: source.name, key: key)
  }
}

extension StepObjects {
  /// Whether a mapping's rule alone makes the objects that its look-up finds, and alone gives keys in their table.
  fileprivate func mayNumber(_ rule: RuleRecipe.Rule, of mapping: CompiledMapping) -> Bool {
    guard let find = rule.find, lookups.lookups[find.lookup].choice == .first else { return false }
    let lookup = lookups.lookups[find.lookup]
    return bySource.joined().allSatisfy { other in
      guard other !== mapping else { return true }
      guard !lookups.positions(feeding: other.destination.name).contains(find.lookup) else { return false }
      guard let policy = other.policy?.policy else { return true }
      // What it may look for it would not find: numbered names are in no look-up.
      guard let writes = policy.declaredWrites(for: other.mapping), !other.mayRead(lookup.entity, lookup.attribute)
      else { return false }
      return writes.allSatisfy { name in
        byNumber.allSatisfy { entity in
          guard let entity, model.isKind(entity.name, of: name) else { return true }
          return entity.table != rule.counter || entity === other.destination
        }
      }
    }
  }
}
