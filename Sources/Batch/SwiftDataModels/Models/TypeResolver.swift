import RunSupport

/// Says what becomes of Swift types in a model. What no store was seen with is refused by name.
struct TypeResolver {
  private static let greatestDepth = 16

  let index: DeclarationIndex
  let known: KnownTypes

  /// A property as messages name it, and where names are looked up for it.
  struct Context {
    /// `Trip.name`.
    let what: String
    let place: SourcePlace
    let scope: Int?

    func error(_ message: String, hint: String? = nil) -> BatchError { place.error("\(what) \(message)", hint: hint) }

    /// An error whose remedy is to say what the type is.
    func unknown(_ message: String, _ type: TypeName) -> BatchError {
      error(
        message,
        hint: "Say what it is stored as, as --swift-types '\(type.text)=String' or '\(type.text)={a: Double, b: Int?}'")
    }
  }

  /// A type without `?`, whether there was one, and where its name is looked up: an alias may be that of an optional.
  func unwrapped(_ type: TypeName, _ context: Context) throws -> (type: TypeName, isOptional: Bool, context: Context) {
    var (type, isOptional) = type.unwrapped
    guard !isOptional else { return (type, true, context) }
    let original = type
    var inner = context
    for _ in 0..<Self.greatestDepth {
      guard known.stated(type) == nil, case .named(let names) = type,
        let found = try index.find(names, in: inner.scope, at: inner.place),
        let aliased = index.types[found].declaration.aliased, !index.types[found].declaration.isGeneric
      else { break }
      inner = Context(what: context.what, place: context.place, scope: index.types[found].parent)
      (type, isOptional) = aliased.unwrapped
      if isOptional { return (type, true, inner) }
    }
    return (original, false, context)
  }

  func shape(of type: TypeName, _ context: Context, depth: Int = 0) throws -> AttributeShape {
    if let stated = known.stated(type) { return stated }
    guard depth < Self.greatestDepth else { throw context.error("has types in each other without end") }
    switch type {
    case .named(let names): return try shape(of: names, context, depth: depth)
    case .array(let element): return try array(of: element, context, depth: depth)
    case .dictionary(let key, _):
      guard key == .named(["String"]) else {
        throw context.unknown("is a dictionary whose keys are no String: no store was seen with one", type)
      }
      return .plain(.binaryData)
    case .optional: throw context.unknown("is an optional of an optional", type)
    case .other(let text): throw context.unknown("has the type \(text), which cannot be read", type)
    }
  }

  private func shape(of names: [String], _ context: Context, depth: Int) throws -> AttributeShape {
    guard let found = try index.find(names, in: context.scope, at: context.place), !index.types[found].isExternal else {
      if let shape = KnownTypes.shape(names) { return shape }
      throw context.unknown(
        "has the type \(names.joined(separator: ".")), which these sources do not declare", .named(names))
    }
    let type = index.types[found]
    let inner = Context(what: context.what, place: context.place, scope: found)
    guard !type.declaration.isGeneric else {
      throw context.unknown("has the type \(type.declaration.name), which is generic", .named(names))
    }
    switch type.declaration.kind {
    case .typealias:
      guard let aliased = type.declaration.aliased else { break }
      if case .optional = aliased {
        throw context.unknown(
          "has the type \(type.declaration.name) (\(type.place)), which is an optional, where another one is around it",
          .named(names))
      }
      let outer = Context(what: context.what, place: type.place, scope: type.parent)
      return try shape(of: aliased, outer, depth: depth + 1)
    case .class where type.declaration.isModel: return .model(found, isToMany: false)
    case .struct: return try StructureShape(resolver: self, position: found).shape(inner, depth: depth)
    case .enum: return try EnumerationShape(resolver: self, position: found).shape(inner, depth: depth)
    default: break
    }
    throw context.unknown(
      "has the type \(type.declaration.name) (\(type.place)), \(type.declaration.kind.withArticle) that no store was seen with",
      .named(names))
  }

  private func array(of element: TypeName, _ context: Context, depth: Int) throws -> AttributeShape {
    let (type, isOptional, inner) = try unwrapped(element, context)
    guard !isOptional else { throw context.unknown("is an array of optionals", .array(element)) }
    switch try shape(of: type, inner, depth: depth + 1) {
    case .model(let position, isToMany: false): return .model(position, isToMany: true)
    case .plain where KnownTypes.isArrayElement(type): return .transformed("Array<\(type.text)>")
    default:
      throw context.unknown("is an array of \(type.text): no store was seen with one", .array(element))
    }
  }
}
