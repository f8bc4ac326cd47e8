import CoreDataModel
import Streams

/// An expression that was understood when the plan was made: names are places already. Evaluated once a row.
indirect enum CompiledExpression {
  case constant(Value)
  case source
  case destination
  /// A member of the collection that a subquery looks at.
  case bound(Int)
  case path(CompiledExpression, [PathStep])
  /// An attribute of the open destination object that was set before.
  case column(StoredAttribute, name: String)
  /// `FUNCTION($entityPolicy, "name:", …)`.
  case policy(name: String, arguments: [PolicyArgument])
  /// A function by its full name.
  case function(name: String, arguments: [CompiledExpression])
  case list([CompiledExpression])
  case subquery(CompiledExpression, CompiledPredicate)
  case conditional(CompiledPredicate, CompiledExpression, CompiledExpression)
  case set(Expression.SetOperation, CompiledExpression, CompiledExpression)
  case fetch(FetchedObjects, isCountOnly: Bool)
  /// What entity mappings made of source objects: one of them, or any.
  case destinations(mapping: String?, of: CompiledExpression)
  /// The source objects of what an entity mapping made.
  case sources(mapping: String, of: CompiledExpression)
}

extension CompiledExpression {
  /// Asks of an attribute only whether it has a value. That is known of one in a file, too.
  mutating func asksPresence() {
    switch self {
    case .column(var attribute, let name):
      attribute.isExternal = false
      self = .column(attribute, name: name)
    case .path(let start, var steps):
      guard let last = steps.popLast() else { return }
      self = .path(start, steps + [last.askingPresence])
    default: break
    }
  }
}

/// An argument of a policy's function.
enum PolicyArgument {
  case expression(CompiledExpression)
  /// What only methods of Core Data's policies take.
  case word(PolicyWord)
}
