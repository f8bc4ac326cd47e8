import CoreDataModel
import Logging
import MappingModels
import Migrations
import Streams

/// Objects of which a run says why they become what they become: see ``MigrationJob/Request/explains``.
public struct ExplainedObjects: Sendable, Equatable {
  /// The entity, with its sub-entities, by its name in the version that a step reads.
  public var entity: String
  /// The key (Z_PK) of one object; nil for all.
  public var key: Int64?

  /// Names objects.
  public init(entity: String, key: Int64? = nil) { (self.entity, self.key) = (entity, key) }
}

/// Writes to a log what becomes of objects, at the level trace: names and keys, no values. The counterpart of Core
/// Data's MigrationDebug.
final class ObjectExplainer: ObjectWatcher {
  private let wanted: [ExplainedObjects]
  private let tables: Set<Int>
  private let plan: StepPlan
  private let number: Int
  private let logger: Logger

  /// Explains objects of a step; nil if its source has none of their entities, or nobody reads the log. Begins with
  /// where the properties of their mappings come from.
  init?(_ wanted: [ExplainedObjects], in plan: StepPlan, number: Int, _ logger: Logger) {
    let tables = wanted.compactMap { plan.graph.entities[$0.entity]?.table }
    guard !tables.isEmpty, logger.logLevel <= .trace else { return nil }
    (self.wanted, self.tables, self.plan, self.number, self.logger) = (wanted, Set(tables), plan, number, logger)
    for mapping in plan.mappings where wanted.contains(where: { isKind(mapping.source.name, of: $0.entity) }) {
      explain(mapping)
    }
  }

  private func isKind(_ entity: String, of other: String) -> Bool { plan.step.source.isKind(entity, of: other) }

  private func explain(_ mapping: CompiledMapping) {
    let origins = PropertyOrigins(mapping: mapping, in: plan.step)
    let properties =
      mapping.destination.attributes.names.map { "\($0): \(origins.attribute($0))" }
      + mapping.destination.relationships.names.map { "\($0): \(origins.relationship($0))" }
    for property in properties { log("\(mapping.mapping.name): \(mapping.destination.name).\(property)") }
  }

  private func log(_ text: String) { logger.trace("step \(number): \(text)") }

  func concerns(table: Int) -> Bool { tables.contains(table) }

  func tell(_ fate: ObjectFate) throws {
    let mapping = fate.mapping
    let isWanted = wanted.contains { isKind(mapping.source.name, of: $0.entity) && $0.key ?? fate.key == fate.key }
    guard isWanted else { return }
    var own = fate.rejection == nil ? "is left out" : "is rejected"
    if fate.isKept { own = "becomes \(mapping.destination.name) \(fate.key &+ mapping.offset)" }
    let made = fate.made.filter { !$0.isOwn }.map { "\($0.entity) \($0.key)" }
    let besides = made.isEmpty ? "" : ", and creates \(made.joined(separator: ", "))"
    let reason = try fate.reason(in: plan.graph, withCause: false).map { ": \($0)" } ?? ""
    log("\(mapping.source.name) \(fate.key) \(own), by \(mapping.mapping.name)\(besides)\(reason)")
  }
}
