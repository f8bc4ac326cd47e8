/// The links that policies add to one join table, as far as it tells whether any of them may be there twice.
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

  /// May two of them be the same?
  var mayRepeat: Bool { !source.ascends && !destination.ascends }

  mutating func add(source: Int64, destination: Int64, call: UInt64) {
    self.source.add(source, call)
    self.destination.add(destination, call)
    count += 1
  }
}
