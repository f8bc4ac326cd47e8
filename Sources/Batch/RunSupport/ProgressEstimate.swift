/// What a run has to do, part by part, and how long the rest of it takes: a pure account of work and time.
///
/// Work is measured in seconds that a part is estimated to take, from bytes and rows that it has to read or to write.
/// The fraction follows from work alone, so that it is true of what was done; the time that is left follows from how
/// long work really took.
package struct ProgressEstimate: Sendable, Equatable {
  /// What takes its time.
  package enum Part: Hashable, Sendable {
    /// All units of a step, from 1: nearly always its rows.
    case rows(step: Int)
    /// Late changes of a step, from 1.
    case changes(step: Int)
    /// The indexes, in the last step.
    case indexes
    /// The proof, or full verification.
    case proof
  }

  struct Entry: Sendable, Equatable {
    var part: Part
    /// Estimated seconds.
    var work = 0.0
    var done = 0.0
    /// What another process had done.
    var doneBefore = 0.0
    var began: Double?
    /// What it took so far, without passes of its own.
    var seconds = 0.0
    /// Those of `seconds` that say nothing about other parts.
    var aside = 0.0
    /// What passes took that come once, and say nothing about its rows; and when the one at work began.
    var passes = 0.0
    var passBegan: Double?

    init(_ part: Part) { self.part = part }

    /// What it took until then, without passes.
    func seconds(at now: Double) -> Double { (passBegan ?? now) - (began ?? passBegan ?? now) - passes }
  }

  /// How much of a pass its rows would have taken without it: as much, at most, as they take with it.
  private static let rowsOfPass = 0.5
  private(set) var entries: [Entry] = []
  private var current: Int?
  /// The fraction that a process before has shown last: this one goes on from there.
  package var shownBefore: Double?
  /// How much of the work was done when this process began with it.
  private var doneAtBegin: Double?
  /// Without an estimate nothing is done, but at the end everything is.
  private var isFinished = false

  /// Parts in the order in which they come; without an estimate yet.
  package init(steps: Int = 1, shownBefore: Double? = nil) {
    self.shownBefore = shownBefore
    for step in 0..<max(0, steps) { entries += [Entry(.rows(step: step + 1)), Entry(.changes(step: step + 1))] }
    entries += [Entry(.indexes), Entry(.proof)]
  }

  /// Foresees a part that has not begun.
  package mutating func foresee(_ part: Part, work: Double) {
    guard let index = index(part), entries[index].began == nil, work >= 0 else { return }
    entries[index].work = work
  }

  /// A part is done up to a fraction; all parts before it are done altogether. Those that this process did not see
  /// beginning were done before it.
  mutating func advance(_ part: Part, to fraction: Double, at seconds: Double) {
    guard let index = index(part), index >= current ?? 0 else { return }
    if index != current { begin(index, at: seconds, from: fraction) }
    entries[index].done = max(entries[index].done, entries[index].work * min(1, max(0, fraction)))
    entries[index].seconds = entries[index].seconds(at: seconds)
    doneAtBegin = doneAtBegin ?? done
  }

  private mutating func begin(_ index: Int, at seconds: Double, from fraction: Double) {
    if let current {
      entries[current].done = entries[current].work
      entries[current].seconds = entries[current].seconds(at: seconds)
    }
    for before in (current.map { $0 + 1 } ?? 0)..<index {
      entries[before].done = entries[before].work
      entries[before].doneBefore = entries[before].work
    }
    entries[index].began = seconds
    // What the first part at hand has done when it is seen first, a process before had done.
    if current == nil { entries[index].doneBefore = entries[index].work * min(1, max(0, fraction)) }
    current = index
  }

  /// So much of the time that a part took so far is its own affair, as that of look-ups which do not fit into memory:
  /// other parts are estimated without it.
  package mutating func setAside(_ seconds: Double, of part: Part) {
    guard let index = index(part) else { return }
    entries[index].aside = max(entries[index].aside, seconds)
  }

  /// A pass begins or ends in which a part does something that comes once, as the numbering of names: its rows wait.
  package mutating func pass(_ begins: Bool, of part: Part, at seconds: Double) {
    guard let index = index(part), entries[index].began != nil else { return }
    if begins {
      entries[index].passBegan = entries[index].passBegan ?? seconds
    } else if let began = entries[index].passBegan {
      entries[index].passes += max(0, seconds - began)
      entries[index].passBegan = nil
    }
  }

  /// Nothing is left.
  package mutating func finish(at seconds: Double) {
    advance(.proof, to: 1, at: seconds)
    isFinished = true
  }

  /// Done, from 0 to 1. It may go back when more turns out to be left than was estimated.
  var fraction: Double {
    let shown = min(shownBefore ?? 0, 0.99)
    guard !isFinished, let begin = doneAtBegin, begin < shown else { return done }
    // Of the steps that are finished, it is not known any more what they were estimated to take.
    return shown + (1 - shown) * max(0, done - begin) / (1 - begin)
  }

  private var done: Double {
    let total = entries.reduce(0) { $0 + $1.work }
    return isFinished ? 1 : total > 0 ? entries.reduce(0) { $0 + $1.done } / total : 0
  }

  /// Seconds that are left at this time; nil as long as too little was done to know.
  func secondsLeft(at seconds: Double) -> Double? {
    if isFinished { return 0 }
    guard let current else { return nil }
    var now = entries[current]
    // A part that reports nothing for a while continues all the same.
    let silent = max(0, now.seconds(at: seconds) - now.seconds)
    let (worked, spent) = entries.reduce((0, 0)) {
      let rows = max(0.05 * $1.seconds, $1.seconds - $1.aside)
      return ($0.0 + $1.done - $1.doneBefore, $0.1 + rows + Self.rowsOfPass * min(rows, $1.passes))
    }
    guard worked > 0, spent > 0, worked > 0.01 * entries.reduce(0, { $0 + $1.work }) else { return nil }
    let pace = spent / worked
    let own = now.done - now.doneBefore
    // Of a part that has just begun, the estimate says more than what it took so far.
    let trust = min(1, max(0, own / now.work * 10))
    let rate = own > 0 ? trust * now.seconds / own + (1 - trust) * pace : pace
    now.done = min(now.done, now.work)
    let rest = max(0, (now.work - now.done) * rate - silent)
    let left = rest + entries[(current + 1)...].reduce(0) { $0 + $1.work } * pace
    return left.isFinite ? left : nil
  }

  private func index(_ part: Part) -> Int? { entries.firstIndex { $0.part == part } }
}

/// What work costs, in seconds on a common machine: only ratios matter, as the pace is measured.
package enum WorkCost {
  /// Rows that go through, by who makes their objects; their columns; and the bytes that are read for them.
  package static let plainRow = 60e-9
  package static let ruledRow = 360e-9
  package static let policyRow = 750e-9
  /// In addition, where a policy declares look-ups.
  package static let lookingRow = 350e-9
  /// What the first of many rows takes less than all of them on the average, where each brings another name: a part.
  package static let growth = 0.12
  package static let column = 12e-9
  /// Rows of tables that no model knows.
  package static let copiedRow = 150e-9
  package static let linkRow = 200e-9
  package static let readByte = 0.5e-9
  /// Rows that late changes write again.
  package static let changedByte = 2e-9
  package static let indexEntry = 90e-9
  /// An entry of an R-tree, which SQLite inserts.
  package static let treeEntry = 5e-6
  /// An entry that is sorted while its row is written.
  package static let collectedEntry = 40e-9
  /// Bytes of the new store, by a decoder of our own, what is left of them where it looks while they are written, and by
  /// SQLite in addition.
  package static let provedByte = 0.8e-9
  package static let restOfByte = 0.4e-9
  package static let verifiedByte = 12e-9
}
