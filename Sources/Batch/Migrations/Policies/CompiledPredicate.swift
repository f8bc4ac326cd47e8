import CoreDataModel

/// A predicate that was understood when the plan was made.
indirect enum CompiledPredicate {
  case truth(Bool)
  case compound(Predicate.Junction, [CompiledPredicate])
  case compare(CompiledExpression, Predicate.Operation, CompiledExpression)
  /// A comparison with a regular expression that is the same for all objects.
  case matches(CompiledExpression, Predicate.Modifier, TextPattern)
}
