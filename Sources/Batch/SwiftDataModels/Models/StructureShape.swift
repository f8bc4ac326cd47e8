/// A Codable structure as a composite: an element for each stored property.
struct StructureShape {
  let resolver: TypeResolver
  let position: Int

  private var type: DeclaredType { resolver.index.types[position] }

  func shape(_ context: TypeResolver.Context, depth: Int) throws -> AttributeShape {
    try refuseOwnCoding(context)
    var elements: [AttributeShape.Element] = []
    for property in type.declaration.properties where !property.isStatic && !property.isComputed {
      let name = "\(context.what) (\(type.declaration.name).\(property.name))"
      let place = SourcePlace(path: type.path, line: property.line)
      let inner = TypeResolver.Context(what: name, place: place, scope: position)
      elements.append(try element(property, inner, depth: depth))
    }
    guard !elements.isEmpty else {
      throw context.unknown("has the type \(type.declaration.name) (\(type.place)), which stores nothing", typeName)
    }
    return .composite(elements)
  }

  private var typeName: TypeName { .named([type.declaration.name]) }

  private func element(
    _ property: SourceProperty, _ context: TypeResolver.Context, depth: Int
  ) throws -> AttributeShape.Element {
    if let doubt = property.doubt { throw DoubtError.make(doubt, of: context.what, at: context.place) }
    guard property.uses.isEmpty, !property.isLazy else {
      throw context.error("has a wrapper or a macro, or is lazy: what it stores is not known")
    }
    guard !property.isConstant || property.value == nil else {
      throw context.error("is a constant with a value, which Codable does not read: no store was seen with one")
    }
    let (type, isOptional, inner) = try PropertyType(property, resolver: resolver).unwrapped(context)
    var shape: AttributeShape
    // Arrays in structures are encoded, whatever is in them.
    if case .array = type, resolver.known.stated(type) == nil {
      shape = .plain(.binaryData)
    } else {
      shape = try resolver.shape(of: type, inner, depth: depth + 1)
    }
    if case .model = shape { throw context.error("is a model inside a structure") }
    if case .dictionary = type, resolver.known.stated(type) == nil {
      throw context.unknown("is a dictionary inside a structure: no store was seen with one", type)
    }
    return AttributeShape.Element(name: property.name, shape: shape, isOptional: isOptional)
  }

  private func refuseOwnCoding(_ context: TypeResolver.Context) throws {
    let own = ([type.declaration] + type.extensions.map(\.declaration)).compactMap(\.coding).first
    let keys = type.children["CodingKeys"]?.first.map { resolver.index.types[$0].declaration }
    let stored = type.declaration.properties.filter { !$0.isStatic && !$0.isComputed }.map(\.name)
    let hasOwnKeys = keys.map { $0.cases.map(\.name) != stored || $0.cases.contains(where: \.hasRawValue) } ?? false
    guard own == nil, !hasOwnKeys, !type.conforms(to: "OptionSet"), !type.conforms(to: "RawRepresentable") else {
      throw context.unknown(
        "has the type \(type.declaration.name) (\(type.place)), which encodes itself in its own way", typeName)
    }
  }
}
