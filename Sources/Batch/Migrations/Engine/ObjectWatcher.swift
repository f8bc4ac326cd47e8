import MappingModels
import RunSupport

/// Hears what became of single source objects: for traces, and for logs that explain. The rows of the tables that it is concerned with
/// are migrated object by object, which gives the same bytes and takes longer.
package protocol ObjectWatcher: AnyObject {
  /// Whether it wants to know of objects of this table, by its place in the source's layout. Read once for each page of rows.
  func concerns(table: Int) -> Bool
  /// An entity mapping was asked about an object.
  func tell(_ fate: ObjectFate) throws
}

/// What an entity mapping made of one source object.
package struct ObjectFate {
  package let mapping: CompiledMapping
  /// The source object's key.
  package let key: Int64
  /// Whether it has an object of its own now.
  package let isKept: Bool
  /// Why it was set aside.
  package var rejection: BatchError?
  /// In the order in which they were made; empty where the mapping alone decides.
  package var made: [WatchedObject]
}

extension ObjectFate {
  /// Why the object is what it is now: a filter, a refusal, a policy that made nothing; nil if there is nothing to say. A cause may
  /// tell values.
  package func reason(in graph: SourceGraph, withCause: Bool) throws -> String? {
    if let rejection {
      return withCause ? rejection.cause.map { "\(rejection.message) (\($0))" } ?? rejection.message : rejection.message
    }
    if mapping.mapping.isSkipped { return "its part is skipped" }
    let filter = mapping.mapping.filterPredicate.map { "the filter \($0)" }
    if isKept { return filter.map { "\($0) holds" } }
    // The policy is asked only about what the filter takes.
    if let filter, let source = try graph.object(mapping.source.number, key: key), try !mapping.takes(source) {
      return "\(filter) does not hold"
    }
    return "the policy \(mapping.mapping.policyClassName ?? "") created no object for it"
  }
}

extension RowTransformer {
  /// Migrates an object that somebody wants to know of, or that may be set aside.
  func take(_ key: Int64, _ mapping: CompiledMapping, _ index: Int, telling watcher: any ObjectWatcher) throws -> Bool {
    manager.watched = []
    defer { manager.watched = nil }
    let (isKept, rejection) = rejects == nil ? (try take(key, mapping, index), nil) : try takeOrReject(key, mapping, index)
    let made = rejection == nil ? manager.watched ?? [] : []
    try watcher.tell(ObjectFate(mapping: mapping, key: key, isKept: isKept, rejection: rejection, made: made))
    return isKept
  }

  /// Migrates an object in a run that continues past objects which cannot be migrated; says why it is rejected.
  func takeOrReject(_ key: Int64, _ mapping: CompiledMapping, _ index: Int) throws -> (isKept: Bool, rejection: BatchError?) {
    let beginning = manager.beginning
    do {
      return (try take(key, mapping, index), nil)
    } catch let error as BatchError where error.code == .policyFailed && manager.takeBack(to: beginning) {
      try refuseUntrueHistory(mapping, key, error)
      try rejects?.log.add(error, step: rejects?.step ?? 0, mapping: index, mapping, key: key, row: row)
      return (false, error)
    }
  }

  /// A rejected object was never deleted, and history that is kept would say that it is there.
  private func refuseUntrueHistory(_ mapping: CompiledMapping, _ key: Int64, _ error: BatchError) throws {
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
