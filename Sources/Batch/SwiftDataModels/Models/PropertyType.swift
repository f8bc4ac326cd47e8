/// The type of a property: as written, or that of the value that it begins with.
struct PropertyType {
  private static let dates = ["now", "distantPast", "distantFuture"]

  let property: SourceProperty
  let resolver: TypeResolver

  init(_ property: SourceProperty, resolver: TypeResolver) { (self.property, self.resolver) = (property, resolver) }

  func type(_ context: TypeResolver.Context) throws -> TypeName {
    if let type = property.type { return type }
    guard let value = property.value else { throw context.error("has no type") }
    guard let type = try type(of: value, context) else {
      throw context.error("has a type that does not show in its value", hint: "Write the type in the source")
    }
    return type
  }

  /// The type without `?`, and where its name is looked up; see ``TypeResolver/unwrapped(_:_:)``.
  func unwrapped(_ context: TypeResolver.Context) throws
    -> (type: TypeName, isOptional: Bool, context: TypeResolver.Context)
  { try resolver.unwrapped(type(context), context) }

  private func type(of value: SourceExpression, _ context: TypeResolver.Context) throws -> TypeName? {
    switch value {
    case .text: return .named(["String"])
    case .integer: return .named(["Int"])
    case .real: return .named(["Double"])
    case .truth: return .named(["Bool"])
    case .typed(let type): return type
    case .array(let elements):
      let types = Set(try elements.map { try type(of: $0, context) })
      return types.count == 1 ? types.first.flatMap { $0 }.map { .array($0) } : nil
    case .call(let function, _):
      guard var names = function.names else { return nil }
      if names.last == "init" { names.removeLast() }
      return try isType(names, context) ? .named(names) : nil
    case .member(.some(let base), let name):
      guard let names = base.names else { return nil }
      if names.last == "Date", Self.dates.contains(name) { return .named(names) }
      guard let found = try resolver.index.find(names, in: context.scope, at: context.place) else { return nil }
      return resolver.index.types[found].declaration.cases.contains { $0.name == name } ? .named(names) : nil
    default: return nil
    }
  }

  /// Whether a call of these names makes a value of the type of this name.
  private func isType(_ names: [String], _ context: TypeResolver.Context) throws -> Bool {
    try !names.isEmpty && KnownTypes.shape(names) != nil || resolver.known.stated(.named(names)) != nil
      || resolver.index.find(names, in: context.scope, at: context.place) != nil
  }
}
