import CoreDataModel

/// Makes an entity of a class marked with `@Model`.
struct EntityReader {
  /// Attributes that change nothing in what is stored.
  private static let harmless: Set<String> = [
    "available", "objc", "nonobjc", "MainActor", "objcMembers", "Observable", "preconcurrency", "usableFromInline",
    "frozen", "dynamicMemberLookup", "unchecked",
  ]

  let resolver: TypeResolver
  let position: Int
  private var draft: EntityDraft
  private var type: DeclaredType { resolver.index.types[position] }

  static func draft(of position: Int, _ resolver: TypeResolver) throws -> EntityDraft {
    var reader = EntityReader(resolver: resolver, position: position)
    try reader.read()
    return reader.draft
  }

  private init(resolver: TypeResolver, position: Int) {
    (self.resolver, self.position) = (resolver, position)
    draft = EntityDraft(
      position: position, entity: EntityDescription(name: resolver.index.types[position].declaration.name))
  }

  private mutating func read() throws {
    try refuseUnknown()
    for property in type.declaration.properties where !property.isStatic {
      let place = SourcePlace(path: type.path, line: property.line)
      let context = TypeResolver.Context(
        what: "\(type.declaration.name).\(property.name)", place: place, scope: position)
      try refuseUndecided(property, context)
      guard !property.isComputed, !property.uses.contains(where: { $0.name == "Transient" }) else { continue }
      try read(property, context)
    }
    for macro in type.declaration.macros { try read(macro) }
    draft.entity.uniquenessConstraints = draft.entity.uniquenessConstraints.reduce(into: []) { list, constraint in
      if !list.contains(constraint) { list.append(constraint) }
    }
  }

  private func refuseUndecided(_ property: SourceProperty, _ context: TypeResolver.Context) throws {
    if let doubt = property.doubt { throw DoubtError.make(doubt, of: context.what, at: context.place) }
    for use in property.uses where !Self.harmless.contains(use.name) {
      guard let doubt = use.doubt else { continue }
      throw DoubtError.make(doubt, of: "@\(use.name) of \(context.what)", at: context.place)
    }
  }

  private func refuseUnknown() throws {
    let name = type.declaration.name
    if let doubt = type.declaration.doubt { throw DoubtError.make(doubt, of: "the class \(name)", at: type.place) }
    guard !type.declaration.isGeneric else { throw type.place.error("the model \(name) is generic") }
    for use in type.declaration.uses where !Self.harmless.contains(use.name) {
      if let doubt = use.doubt { throw DoubtError.make(doubt, of: "@\(use.name) of \(name)", at: type.place) }
      guard use.name != "Model" else { continue }
      throw type.place.error(
        "the model \(name) has the attribute @\(use.name), and what that adds to it is not known",
        hint: "Name a copy of the source without it, if it adds no stored property")
    }
    try refuseSuperclass()
  }

  /// A superclass is written first.
  private func refuseSuperclass() throws {
    guard let parent = type.declaration.inherited.first,
      try !resolver.isProtocol(parent, in: type.parent, at: type.place)
    else { return }
    let name = type.declaration.name
    if case .named(let names) = parent, let found = try resolver.index.find(names, in: type.parent, at: type.place),
      resolver.index.types[found].declaration.kind == .class
    {
      throw type.place.error("the model \(name) is a subclass of \(parent.text): no store was seen with one")
    }
    throw type.place.error(
      "the model \(name) inherits from \(parent.text), which these sources do not declare as a protocol: no store was "
        + "seen with a subclass",
      hint: "If it is a protocol, name its source, too, or say --swift-types '\(parent.text)=protocol'")
  }

  private mutating func read(_ property: SourceProperty, _ context: TypeResolver.Context) throws {
    guard !property.isLazy else { throw context.error("is lazy: what it stores is not known") }
    for use in property.uses {
      let isKnown = use.name == "Attribute" || use.name == "Relationship" || Self.harmless.contains(use.name)
      guard isKnown else { throw context.error("has the attribute @\(use.name), which is not known") }
    }
    guard property.name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) else {
      throw context.error("is a pattern: declare one name at a time")
    }
    let (type, isOptional, inner) = try PropertyType(property, resolver: resolver).unwrapped(context)
    let transformer = try AttributeOptions.transformer(property, context)
    let shape = try transformer.map { _ in .plain(.transformable) } ?? resolver.shape(of: type, inner)
    if case .model(let destination, let isToMany) = shape {
      let reader = RelationshipReader(
        property: property, context: context, owner: position, destination: destination, isToMany: isToMany,
        isOptional: isOptional)
      let name = resolver.index.types[destination].declaration.name
      draft.relationships.append(try reader.draft(destinationName: name))
      if reader.isUnique { draft.entity.uniquenessConstraints.append([property.name]) }
      return
    }
    if property.uses.contains(where: { $0.name == "Relationship" }) {
      throw context.error("is a relationship to \(type.text), which is no class with @Model in these sources")
    }
    var attribute = AttributeMaker.attribute(property.name, shape, isOptional: isOptional)
    if transformer != nil { attribute.attributeValueClassName = type.text }
    if let value = property.value { DefaultReader.read(value, at: context.place, into: &attribute) }
    let options = try AttributeOptions(property, context)
    options.apply(to: &attribute)
    draft.entity.attributes.append(attribute)
    if options.isUnique { draft.entity.uniquenessConstraints.append([property.name]) }
  }

  /// `#Unique` and `#Index`.
  private mutating func read(_ macro: SourceUse) throws {
    let place = SourcePlace(path: type.path, line: macro.line)
    if let doubt = macro.doubt { throw DoubtError.make(doubt, of: macro.name, at: place) }
    let name = type.declaration.name
    switch macro.name {
    case "#Unique":
      draft.entity.uniquenessConstraints += try macro.arguments.map { try names($0, of: macro.name, at: place) }
    case "#Index":
      for argument in macro.arguments {
        let names = try names(argument, of: macro.name, at: place)
        draft.entity.indexes.append(
          .init(name: "SwiftDataIndexOnBinary" + names.joined(), elements: names.map { .init(property: $0) }))
      }
    case "#warning", "#error": break
    default: throw place.error("\(name) uses the macro \(macro.name), and what that adds is not known")
    }
  }

  /// The properties of a constraint or an index: `[\.a, \.b]`, `.binary([\.a])`.
  private func names(_ argument: SourceArgument, of macro: String, at place: SourcePlace) throws -> [String] {
    var value = argument.value
    if case .call(.member(_, "binary"), let inner) = value, inner.count == 1 { value = inner[0].value }
    if case .keyPath = value { value = .array([value]) }
    guard case .array(let paths) = value, !paths.isEmpty else {
      throw place.error("\(macro) has an argument that no store was seen with")
    }
    return try paths.map { path in
      guard case .keyPath(let root, let names) = path, names.count == 1, try isOwn(root, place) else {
        throw place.error("\(macro) names something else than a property of \(type.declaration.name)")
      }
      guard type.declaration.properties.contains(where: { $0.name == names[0] && !$0.isStatic && !$0.isComputed })
      else {
        throw place.error("\(macro) names \(names[0]), which \(type.declaration.name) does not store")
      }
      return names[0]
    }
  }

  /// Whether the root of a key path is this class.
  private func isOwn(_ root: [String], _ place: SourcePlace) throws -> Bool {
    try root.isEmpty
      || resolver.index.find(root, in: position, at: place).flatMap { try resolver.index.followed($0, at: place) }
        == position
  }
}
