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
    if let raw = try rawType(depth: depth) {
      return .raw(raw)
    }
    if let found = declaration.cases.first(where: \.hasValues) {
      throw context.unknown(
        "has the type \(name), whose case \(found.name) has associated values: no store was seen with one", typeName)
    }
    guard !declaration.cases.isEmpty else { throw context.unknown("has the type \(name), which has no case", typeName) }
    return .composite(
      declaration.cases.map { .init(name: $0.name, shape: .plain(.string), isOptional: true) })
  }

  private var name: String { "\(type.declaration.name) (\(type.place))" }
  private var typeName: TypeName { .named([type.declaration.name]) }

  /// The type of the raw value, which is written first.
  private func rawType(depth: Int) throws -> AttributeType? {
    guard case .named(let names) = type.declaration.inherited.first else { return nil }
    let context = TypeResolver.Context(what: name, place: type.place, scope: type.parent)
    guard let found = try resolver.index.find(names, in: type.parent, at: type.place) else {
      guard case .plain(let type) = KnownTypes.shape(names), KnownTypes.isRaw(type) else { return nil }
      return type
    }
    guard resolver.index.types[found].declaration.kind == .typealias,
      case .plain(let type) = try resolver.shape(of: .named(names), context, depth: depth + 1), KnownTypes.isRaw(type)
    else { return nil }
    return type
  }
}
