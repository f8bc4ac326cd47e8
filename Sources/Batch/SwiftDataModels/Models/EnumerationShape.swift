import CoreDataModel

/// An enumeration: with a raw value one element of its type, else an optional text for each case.
struct EnumerationShape {
  let resolver: TypeResolver
  let position: Int

  private var type: DeclaredType { resolver.index.types[position] }

  func shape(_ context: TypeResolver.Context, depth: Int) throws -> AttributeShape {
    let declaration = type.declaration
    if let doubt = declaration.cases.compactMap(\.doubt).first {
      let place = SourcePlace(path: type.path, line: doubt.line)
      throw DoubtError.make(doubt, of: "a case of \(declaration.name)", at: place)
    }
    let own = ([declaration] + type.extensions.map(\.declaration)).compactMap(\.coding).first
    guard own == nil, !type.conforms(to: "RawRepresentable"), type.children["CodingKeys"] == nil else {
      throw context.unknown("has the type \(name), which encodes itself in its own way", typeName)
    }
    if let raw = try rawType(context, depth: depth) {
      return .raw(raw)
    }
    if let found = declaration.cases.first(where: \.hasValues) {
      throw context.unknown(
        "has the type \(name), whose case \(found.name) has associated values: no store was seen with one", typeName)
    }
    guard !declaration.cases.isEmpty else { throw context.unknown("has the type \(name), which has no case", typeName) }
    return .composite(
      declaration.cases.map { .init(name: $0.name, shape: .plain(.string), isOptional: true) }, isOfCases: true)
  }

  private var name: String { "\(type.declaration.name) (\(type.place))" }
  private var typeName: TypeName { .named([type.declaration.name]) }

  /// The type of the raw value, which is written first; nil if a protocol is, or nothing.
  private func rawType(_ context: TypeResolver.Context, depth: Int) throws -> AttributeType? {
    guard let first = type.declaration.inherited.first else { return nil }
    if try resolver.isProtocol(first, in: type.parent, at: type.place) { return nil }
    let own = TypeResolver.Context(what: name, place: type.place, scope: type.parent)
    if case .plain(let raw)? = try rawShape(first, own, depth: depth), KnownTypes.isRaw(raw) { return raw }
    throw context.error(
      "has the type \(name), whose raw type \(first.text) no store was seen with",
      hint: "Say what it is stored as, as --swift-types '\(first.text)=Int'; if \(first.text) is a protocol, "
        + "say --swift-types '\(first.text)=protocol'")
  }

  /// The type as an attribute, if it is known, stated, or another name for such a one.
  private func rawShape(_ raw: TypeName, _ own: TypeResolver.Context, depth: Int) throws -> AttributeShape? {
    if let stated = resolver.known.stated(raw) { return stated }
    guard case .named(let names) = raw else { return nil }
    guard let found = try resolver.index.find(names, in: own.scope, at: own.place),
      !resolver.index.types[found].isExternal
    else { return KnownTypes.shape(names) }
    guard resolver.index.types[found].declaration.kind == .typealias else { return nil }
    return try resolver.shape(of: raw, own, depth: depth + 1)
  }
}
