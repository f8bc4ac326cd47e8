import RunSupport

// Rows whose objects somebody wants to know of, or that may be set aside.
extension RowTransformer {
  /// Migrates an object by one of its mappings.
  @inline(__always)
  func take(
    _ key: Int64, by way: TablePass.Way, telling watcher: (any ObjectWatcher)?
  ) throws -> (isKept: Bool, isRejected: Bool) {
    try way.mapping._withUnsafeGuaranteedRef { mapping in
      var fate = (isKept: false, isRejected: false)
      if let watcher {
        fate = try take(key, mapping: mapping, index: way.index, telling: watcher)
      } else if rejects != nil {
        let (isKept, rejection) = try takeOrReject(key, mapping: mapping, index: way.index)
        fate = (isKept, rejection != nil)
      } else {
        fate.isKept = try take(key, mapping: mapping, index: way.index)
      }
      if fate.isKept, mapping.mayClear {
        for keys in mapping.clearedKeys where keys.allSatisfy({ $0.row == key }) {
          state.tallies[0].add(cleared: 1, at: keys[0].place)
        }
      }
      return fate
    }
  }

  /// Migrates an object that somebody wants to know of, or that may be set aside.
  func take(
    _ key: Int64, mapping: CompiledMapping, index: Int, telling watcher: any ObjectWatcher
  ) throws -> (isKept: Bool, isRejected: Bool) {
    manager.watched = []
    defer { manager.watched = nil }
    let (isKept, rejection) =
      rejects == nil
      ? (try take(key, mapping: mapping, index: index), nil) : try takeOrReject(key, mapping: mapping, index: index)
    let made = rejection == nil ? manager.watched ?? [] : []
    try watcher.tell(ObjectFate(mapping: mapping, key: key, isKept: isKept, rejection: rejection, made: made))
    return (isKept, rejection != nil)
  }

  /// Migrates an object in a run that continues past objects which cannot be migrated; says why it is rejected.
  func takeOrReject(_ key: Int64, mapping: CompiledMapping, index: Int) throws -> (
    isKept: Bool, rejection: BatchError?
  ) {
    let beginning = manager.beginning
    do {
      return (try take(key, mapping: mapping, index: index), nil)
    } catch let error as BatchError where error.code == .policyFailed && manager.takeBack(to: beginning) {
      try refuseUntrueHistory(mapping, key: key, error: error)
      try rejects?.log.add(error, step: rejects?.step ?? 0, mapping: index, mapping, key: key, row: row)
      return (false, error)
    }
  }

  /// A rejected object was never deleted, and history that is kept would say that it is there.
  private func refuseUntrueHistory(_ mapping: CompiledMapping, key: Int64, error: BatchError) throws {
    guard let history = plan.carried.history, let row = history.first[Int64(mapping.source.number)] else { return }
    let way = rejects?.log.emptyingHistory.map { ", or empty the history with \($0): its clients begin anew" } ?? ""
    throw BatchError(
      .refused,
      "this object cannot be migrated, and without it row \(row) of \(history.table) may become untrue: \(error.message)",
      hint: "The store is as it was. Correct the mapping or the object and begin anew\(way)",
      next: rejects?.log.emptyingHistory.map { [$0.line] } ?? [],
      entity: mapping.source.name, key: key, cause: error.cause)
  }
}
