/// The links that policies add to one join table, as far as it shows whether any of them may be there twice.
///
/// Within a call no link is made twice. Where the calls' keys of one side ascend, no two calls make the same link.
struct LinkOrder {
  private struct Side {
    var last = Int64.min
    var call = UInt64.max
    var ascends = true

    mutating func add(_ key: Int64, _ call: UInt64) {
      ascends = ascends && (key > last || (key == last && call == self.call))
      (last, self.call) = (key, call)
    }
  }

  private var source = Side()
  private var destination = Side()
  /// Links that were added.
  private(set) var count: UInt64 = 0

  /// Whether two of them may be the same.
  var mayRepeat: Bool { !source.ascends && !destination.ascends }

  mutating func add(source: Int64, destination: Int64, call: UInt64) {
    self.source.add(source, call)
    self.destination.add(destination, call)
    count += 1
  }
}

/// The links that policies add, to all join tables: a set holds an object once, however often it is added.
struct AddedLinks {
  private struct Link: Equatable {
    var join: Int
    var source: Int64
    var destination: Int64
  }

  /// Those of the call at work.
  private var made: [Link] = []
  private var calls: UInt64 = 0
  /// For every join table, whether they may have made a link that is there already.
  private var orders: [LinkOrder]

  init(joins: Int) { orders = Array(repeating: LinkOrder(), count: joins) }

  /// Takes notice of a link; false where the call at work has made it before.
  mutating func add(_ join: Int, source: Int64, destination: Int64) -> Bool {
    let link = Link(join: join, source: source, destination: destination)
    guard made.isEmpty || !made.contains(link) else { return false }
    made.append(link)
    orders[join].add(source: source, destination: destination, call: calls)
    return true
  }

  /// Takes notice of the only link of a call.
  @inline(__always)
  mutating func addCall(_ join: Int, source: Int64, destination: Int64) {
    orders[join].add(source: source, destination: destination, call: calls)
    calls += 1
  }

  /// The call at work has ended.
  @inline(__always)
  mutating func endCall() {
    guard !made.isEmpty else { return }
    made.removeAll(keepingCapacity: true)
    calls += 1
  }

  /// Whether a join table of so many rows may hold a link twice: by several calls, or because the source had it.
  func mayRepeat(_ join: Int, rows: UInt64) -> Bool {
    orders[join].count > 0 && (orders[join].mayRepeat || rows > orders[join].count)
  }
}
