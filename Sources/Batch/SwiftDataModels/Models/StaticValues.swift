/// Follows names of static properties and of variables of files to their values.
struct StaticValues {
  private static let greatestDepth = 16

  let index: DeclarationIndex
  let globals: [(property: SourceProperty, path: String)]

  /// A value with the place where it is written, and the scope of the names in it.
  struct Found {
    let value: SourceExpression
    let place: SourcePlace
    let scope: Int?
  }

  init(index: DeclarationIndex, files: [SourceFile]) {
    self.index = index
    globals = files.flatMap { file in file.contents.globals.map { ($0, file.path) } }
  }

  /// The value of a type's static property.
  func value(of name: String, in type: Int) throws -> Found? {
    let declared = index.types[type]
    guard let (property, path) = declared.properties.first(where: { $0.property.isStatic && $0.property.name == name })
    else { return nil }
    let place = SourcePlace(path: path, line: property.line)
    if let doubt = property.doubt {
      throw DoubtError.make(doubt, of: "\(declared.declaration.name).\(name)", at: place)
    }
    return property.value.map { Found(value: $0, place: place, scope: type) }
  }

  /// What a name stands for: `models`, `Self.models`, `SchemaV1.models`; nil if sources do not say.
  func value(of names: [String], at found: Found) throws -> Found? {
    guard let last = names.last else { return nil }
    let owner = Array(names.dropLast())
    if owner.isEmpty || owner == ["Self"] {
      var scope = found.scope
      while let type = scope {
        if let value = try value(of: last, in: type) { return value }
        scope = index.types[type].parent
      }
      guard owner.isEmpty, let (property, path) = globals.first(where: { $0.property.name == last }) else { return nil }
      return property.value.map { Found(value: $0, place: SourcePlace(path: path, line: property.line), scope: nil) }
    }
    guard let position = try index.find(owner, in: found.scope, at: found.place),
      let type = try index.followed(position, at: found.place)
    else { return nil }
    return try value(of: last, in: type)
  }

  /// The elements of a list that is written down, in one place or several; nil if a part of it is computed.
  func elements(of found: Found, depth: Int = 0) throws -> [Found]? {
    guard depth < Self.greatestDepth else { return nil }
    switch found.value {
    case .array(let elements): return elements.map { Found(value: $0, place: found.place, scope: found.scope) }
    case .sum(let first, let second):
      let parts = try [first, second].map {
        try elements(of: Found(value: $0, place: found.place, scope: found.scope), depth: depth + 1)
      }
      guard let first = parts[0], let second = parts[1] else { return nil }
      return first + second
    default:
      guard let names = found.value.names, let next = try value(of: names, at: found) else { return nil }
      return try elements(of: next, depth: depth + 1)
    }
  }

  /// The types of a list of `X.self`; nil if it is computed.
  func types(of found: Found) throws -> [Int]? {
    guard let elements = try elements(of: found) else { return nil }
    var types: [Int] = []
    for element in elements {
      guard let names = element.value.metatype else { return nil }
      types.append(try type(names, at: element))
    }
    return types
  }

  /// The type of that name. Throws if sources do not declare it.
  func type(_ names: [String], at found: Found) throws -> Int {
    guard let position = try index.find(names, in: found.scope, at: found.place),
      let type = try index.followed(position, at: found.place)
    else {
      throw found.place.error("the class \(names.joined(separator: ".")) is not declared in these sources")
    }
    return type
  }
}
