import MappingModels

/// What the names in a rule mean while it is understood.
struct RuleContext {
  /// What `$item` is.
  enum Item {
    case object(SourceEntity)
    case element

    var kind: ExpressionCompiler.Kind {
      switch self {
      case .object(let entity): .source(entity)
      case .element: .value
      }
    }
  }

  /// What `$item` and `$previous` are; nil for nothing.
  var item: Item?
  var previous: Item?
  /// What the rule at hand goes through.
  var forEach: String?
  /// By name, the places of earlier rules, the entities of their objects, and what they go through.
  var made: [String: (place: Int, entity: String, forEach: String?)] = [:]

  /// The entity of `$item`.
  var entity: SourceEntity? { if case .object(let entity)? = item { entity } else { nil } }
}
