/// Follows names of static properties and of variables of files to their values.
struct StaticValues {
  private static let greatestDepth = 16

  let index: DeclarationIndex
  let globals: [(property: SourceProperty, path: String)]
  let changes: [Change]

  /// A place where a variable is changed.
  struct Change {
    let change: SourceChange
    let path: String
    var place: SourcePlace { SourcePlace(path: path, line: change.line) }

    /// In another file a name may be that of something else, unless types are put into it.
    func isOf(_ name: String, in file: String) -> Bool { change.name == name && (path == file || change.namesTypes) }
  }

  /// A value with the place where it is written, and the scope of the names in it.
  struct Found {
    let value: SourceExpression
    let place: SourcePlace
    let scope: Int?
    /// The name of the variable that has it, if code may change it.
    var variable: String?
  }

  init(index: DeclarationIndex, files: [SourceFile]) {
    self.index = index
    globals = files.flatMap { file in file.contents.globals.map { ($0, file.path) } }
    changes = files.flatMap { file in file.contents.changes.map { Change(change: $0, path: file.path) } }
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
    return found(property, path: path, scope: type)
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
      return owner.isEmpty ? try global(last, at: found.place) : nil
    }
    guard let position = try index.find(owner, in: found.scope, at: found.place),
      let type = try index.followed(position, at: found.place)
    else { return nil }
    return try value(of: last, in: type)
  }

  /// The value of a variable of a file, as another place sees it: what is private in a file is nothing in others.
  private func global(_ name: String, at place: SourcePlace) throws -> Found? {
    let seen = globals.filter { $0.property.name == name && (!$0.property.isPrivate || $0.path == place.path) }
    guard let (property, path) = seen.first else { return nil }
    let places = seen.map { SourcePlace(path: $0.path, line: $0.property.line) }
    if let doubt = property.doubt { throw DoubtError.make(doubt, of: "the variable \(name)", at: places[0]) }
    guard seen.count == 1 else {
      throw place.error(
        "\(name) is declared \(seen.count) times, in \(places.map(\.description).joined(separator: " and "))",
        hint: "Name the files or the folder of one target alone")
    }
    return found(property, path: path, scope: nil)
  }

  private func found(_ property: SourceProperty, path: String, scope: Int?) -> Found? {
    property.value.map {
      Found(
        value: $0, place: SourcePlace(path: path, line: property.line), scope: scope,
        variable: property.isConstant || property.isComputed ? nil : property.name)
    }
  }

  /// Throws if sources change a list after it is made.
  private func refuseChanged(_ found: Found) throws {
    guard let name = found.variable, let change = changes.first(where: { $0.isOf(name, in: found.place.path) }) else {
      return
    }
    throw found.place.error(
      "the list \(name) is changed at \(change.place), so that what it holds is not written in one place",
      hint:
        "Write the whole list as a constant, as let \(name): [any PersistentModel.Type] = [A.self, B.self], in a copy "
        + "of the sources")
  }

  /// The elements of a list that is written down, in one place or several; nil if a part of it is computed.
  func elements(of found: Found, depth: Int = 0) throws -> [Found]? {
    guard depth < Self.greatestDepth else { return nil }
    try refuseChanged(found)
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
