/// All types that sources declare, found by name and place as the compiler finds them.
struct DeclarationIndex: Sendable {
  private(set) var types: [DeclaredType] = []
  private var top: [String: [Int]] = [:]

  init(files: [SourceFile]) {
    var extensions: [(declaration: SourceDeclaration, path: String)] = []
    for file in files {
      for declaration in file.contents.declarations {
        if declaration.kind == .extension {
          extensions.append((declaration, file.path))
        } else {
          top[declaration.name, default: []].append(add(declaration, path: file.path, parent: nil))
        }
      }
    }
    attach(extensions)
  }

  private mutating func add(_ declaration: SourceDeclaration, path: String, parent: Int?) -> Int {
    let position = types.count
    types.append(DeclaredType(declaration: declaration, path: path, parent: parent))
    for child in declaration.nested where child.kind != .extension {
      types[position].children[child.name, default: []].append(add(child, path: path, parent: position))
    }
    return position
  }

  /// Extensions of types that other extensions declare come after these.
  private mutating func attach(_ extensions: [(declaration: SourceDeclaration, path: String)]) {
    var waiting = extensions
    while !waiting.isEmpty {
      let rest = waiting.filter { part in
        guard let owner = owner(part.declaration.names) else { return true }
        attach(part.declaration, part.path, to: owner)
        return false
      }
      if rest.count == waiting.count { break }
      waiting = rest
    }
    for part in waiting { attach(part.declaration, part.path, to: external(part.declaration.names, part)) }
  }

  private func owner(_ names: [String]) -> Int? {
    guard let first = names.first, var position = top[first]?.first else { return nil }
    for name in names.dropFirst() {
      guard let next = types[position].children[name]?.first else { return nil }
      position = next
    }
    return aliased(position)
  }

  /// The type that a type alias of a file stands for, if sources declare it.
  private func aliased(_ position: Int) -> Int? {
    guard case .named(let names) = types[position].declaration.aliased else { return position }
    return names == types[position].declaration.names ? nil : owner(names)
  }

  private mutating func attach(_ declaration: SourceDeclaration, _ path: String, to owner: Int) {
    types[owner].extensions.append((declaration, path))
    for child in declaration.nested where child.kind != .extension {
      types[owner].children[child.name, default: []].append(add(child, path: path, parent: owner))
    }
  }

  /// A type of another module, of which sources say nothing but what they add.
  private mutating func external(
    _ names: [String], _ part: (declaration: SourceDeclaration, path: String)
  ) -> Int {
    let name = names.joined(separator: ".")
    if let known = top[name]?.first { return known }
    let position = types.count
    var type = DeclaredType(declaration: part.declaration, path: part.path, parent: nil)
    type.isExternal = true
    types.append(type)
    top[name] = [position]
    return position
  }

  /// The classes marked with `@Model`, in the order of the files.
  var models: [Int] { types.indices.filter { types[$0].declaration.isModel && !types[$0].isExternal } }

  /// The type that a name means in the scope of another type (nil: of a file), type aliases not followed.
  ///
  /// Throws if sources declare the name twice there.
  func find(_ names: [String], in scope: Int?, at place: SourcePlace) throws -> Int? {
    guard let first = names.first else { return nil }
    var (owner, found) = (scope, [Int]())
    while let type = owner, found.isEmpty {
      found = types[type].children[first] ?? []
      if found.isEmpty, types[type].declaration.name == first { found = [type] }
      owner = types[type].parent
    }
    if found.isEmpty { found = top[first] ?? [] }
    guard var position = try only(found, first, at: place) else { return nil }
    for name in names.dropFirst() {
      position = try followed(position, at: place) ?? position
      guard let next = try only(types[position].children[name] ?? [], name, at: place) else { return nil }
      position = next
    }
    return position
  }

  /// Of a type alias the type that sources declare for it; nil if that is one of another module.
  func followed(_ position: Int, at place: SourcePlace) throws -> Int? {
    var (position, seen) = (position, Set<Int>())
    while case .named(let names) = types[position].declaration.aliased {
      guard seen.insert(position).inserted else {
        throw types[position].place.error("the type alias \(types[position].declaration.name) stands for itself")
      }
      guard let next = try find(names, in: types[position].parent, at: types[position].place), next != position else {
        return nil
      }
      position = next
    }
    return position
  }

  private func only(_ found: [Int], _ name: String, at place: SourcePlace) throws -> Int? {
    guard found.count > 1 else {
      if let only = found.first, let doubt = types[only].declaration.doubt {
        throw DoubtError.make(doubt, of: "the type \(name)", at: SourcePlace(path: types[only].path, line: doubt.line))
      }
      return found.first
    }
    let places = found.map { types[$0].place.description }.joined(separator: " and ")
    throw place.error(
      "\(name) is declared \(found.count) times, in \(places)", hint: "Name the files or the folder of one target alone"
    )
  }
}
