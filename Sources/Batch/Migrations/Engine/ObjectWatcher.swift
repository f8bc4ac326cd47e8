import MappingModels
import RunSupport

/// Hears what became of single source objects: for traces, and for logs that explain. The rows of the tables that it is
/// concerned with are migrated object by object, which gives the same bytes and takes longer.
package protocol ObjectWatcher: AnyObject {
  /// Whether it wants to know of objects of this table, by its place in the source's layout. Read once for each page of
  /// rows.
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
  /// Why the object is what it is now: a filter, a refusal, a policy that made nothing; nil if there is nothing to say.
  /// A cause may tell values.
  package func reason(in graph: SourceGraph, withCause: Bool) throws -> String? {
    if let rejection {
      return withCause ? rejection.cause.map { "\(rejection.message) (\($0))" } ?? rejection.message : rejection.message
    }
    if mapping.mapping.isSkipped { return "its part is skipped" }
    let filter = mapping.mapping.filterPredicate.map { "the filter \($0)" }
    if isKept { return mapping.mapping.isFilteredByRemovals ? "no remove holds" : filter.map { "\($0) holds" } }
    // The policy is asked only about what the filter takes.
    if let filter, let source = try graph.object(mapping.source.number, key: key), try !mapping.takes(source) {
      return try removal(of: source, in: graph) ?? "\(filter) does not hold"
    }
    return "the policy \(mapping.mapping.policyClassName ?? "") created no object for it"
  }

  /// The first removal that holds, as the file has it; nil if none does.
  private func removal(of source: SourceObject, in graph: SourceGraph) throws -> String? {
    let filters = try MappingFilter.removals(of: mapping.mapping, source: mapping.source, graph: graph)
    guard let found = try zip(mapping.mapping.removals, filters).first(where: { try $1.takes(source) })?.0 else {
      return nil
    }
    return "remove holds: " + (found.reason.map { "\($0) (\(found.predicate))" } ?? found.predicate)
  }

  /// Whether a to-one relationship of the source object leads to an object.
  package func hasObject(_ relationship: String, in graph: SourceGraph) throws -> Bool {
    try graph.object(mapping.source.number, key: key)?.objects(relationship).isEmpty == false
  }
}
