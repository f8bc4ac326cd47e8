import CoreDataModel
import MappingModels
import RunSupport

/// The filter of an entity mapping: which source objects it takes.
struct MappingFilter {
  private let predicate: CompiledPredicate
  private let name: String

  /// Understands the mapping's filter predicate; nil if it has none. Throws `badMapping`.
  /// That of a mapping which the run skips takes nothing.
  init?(_ mapping: EntityMapping, source: SourceEntity, graph: SourceGraph) throws {
    name = mapping.name
    guard !mapping.isSkipped else {
      predicate = .truth(false)
      return
    }
    guard let text = mapping.filterPredicate else { return nil }
    do {
      var compiler = ExpressionCompiler(graph: graph, mapping: mapping, source: source)
      predicate = try compiler.compile(Predicate(format: text))
    } catch let error as BatchError {
      throw BatchError(
        .badMapping, "the filter of \(mapping.name) cannot be read: \(text)", entity: source.name, cause: error)
    } catch let damage as ExpressionDamage {
      throw BatchError(
        .badMapping, "the filter of \(mapping.name) \(damage): \(text)", hint: "Leave objects out in a policy",
        entity: source.name)
    }
  }

  /// For each removal of a mapping, what takes the objects that it removes. Throws `badMapping`.
  static func removals(
    of mapping: EntityMapping, source: SourceEntity, graph: SourceGraph
  ) throws -> [MappingFilter] {
    try mapping.removals.compactMap { removal in
      var one = mapping
      one.filterPredicate = removal.predicate
      return try MappingFilter(one, source: source, graph: graph)
    }
  }

  /// Whether the mapping takes the object.
  func takes(_ source: SourceObject) throws -> Bool {
    do { return try predicate.holds(for: source) } catch let damage as ExpressionDamage {
      throw BatchError(
        .policyFailed, "the filter of \(name) \(damage)", hint: "Correct the filter predicate of the mapping",
        entity: source.entity.name, key: source.key)
    }
  }
}
