import Batch

/// What the plans of a list's stores come to, all together.
struct ListTotals: Encodable {
  /// What of a version is in no later one.
  struct Loss: Encodable {
    /// The entity, or the entity and the property.
    var path: String
    /// As a plan says it.
    var fate: String
    /// Objects, values or links of all stores.
    var count: UInt64
    /// Stores that have them.
    var stores: Int
  }

  /// Stores that have something to do.
  var stores = 0
  /// Of these stores.
  var bytes: UInt64 = 0
  var rows: UInt64 = 0
  /// Estimates of the runs one after the other. A store without an estimate has none in the sum.
  var seconds = 0.0
  var estimated = 0
  /// Bytes of all new stores, and the most that one run needs.
  var newBytes: UInt64 = 0
  var diskNeeded: UInt64 = 0
  var losses: [Loss] = []

  /// Nil if no store has a plan.
  init?(_ results: [ListResult]) {
    let plans = results.compactMap { $0.exitCode == 0 ? $0.result : nil }.filter {
      $0["accounts"] != nil && $0["steps"]?.elements.isEmpty == false
    }
    guard !plans.isEmpty else { return nil }
    for plan in plans { add(plan) }
    losses.sort { ($1.count, $0.path) < ($0.count, $1.path) }
  }

  private mutating func add(_ plan: JSONValue) {
    stores += 1
    bytes += plan["bytes"]?.count ?? 0
    rows += plan["totalRows"]?.count ?? 0
    if let forecast = plan["forecast"], let seconds = forecast["seconds"]?.double {
      self.seconds += seconds
      estimated += 1
      newBytes += forecast["steps"]?.elements.last?["bytes"]?.count ?? 0
    }
    diskNeeded = max(diskNeeded, plan["diskNeeded"]?.count ?? 0)
    for line in plan["accounts"]?.elements.flatMap({ $0["lines"]?.elements ?? [] }) ?? [] { add(line: line) }
  }

  private mutating func add(line: JSONValue) {
    guard let fate = line["fate"]?.text, fate == "dropped" || fate == "lost", let entity = line["entity"]?.text,
      let count = line["count"]?.count, count > 0
    else { return }
    let path = line["name"]?.text.map { "\(entity).\($0)" } ?? entity
    if let place = losses.firstIndex(where: { $0.path == path && $0.fate == fate }) {
      losses[place].count += count
      losses[place].stores += 1
    } else {
      losses.append(Loss(path: path, fate: fate, count: count, stores: 1))
    }
  }

  /// The lines for a person; losses beyond the first ones are counted.
  var lines: [String] {
    let estimate = estimated == 0 ? "" : "; estimate \(Console.duration(seconds)) one store after the other"
    let room = estimated == 0 ? "" : "\(Console.size(newBytes)) for all new stores, "
    let disk = "  disk: \(room)\(Console.size(diskNeeded)) at the peak of the largest run"
    let head = "in all: \(Console.size(bytes)), \(rows.counted("row"))\(estimate)"
    let shown = losses.prefix(10).map {
      "  \($0.fate): \($0.count.grouped) of \($0.path), in \($0.stores.counted("store"))"
    }
    let more = losses.count > 10 ? ["  and \((losses.count - 10).grouped) more that are dropped or lost"] : []
    return [head, disk] + shown + more
  }
}
