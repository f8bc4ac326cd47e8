import CoreDataModel

/// Reads the types that conform to `VersionedSchema`.
struct VersionedSchemaReader {
  let builder: SchemaBuilder
  let values: StaticValues
  private var index: DeclarationIndex { values.index }

  init(builder: SchemaBuilder, values: StaticValues) { (self.builder, self.values) = (builder, values) }

  /// The places of all such types in the index.
  var positions: [Int] {
    index.types.indices.filter {
      let type = index.types[$0]
      return !type.isExternal && type.declaration.kind != .protocol && type.conforms(to: "VersionedSchema")
    }
  }

  func version(_ position: Int) throws -> SchemaVersion {
    let type = index.types[position]
    if let doubt = type.declaration.doubt { throw DoubtError.make(doubt, of: type.declaration.name, at: type.place) }
    let identifier = try identifier(of: position)
    return SchemaVersion(
      position: position, numbers: identifier,
      model: try builder.model(of: classes(of: position), version: identifier.map(String.init).joined(separator: ".")))
  }

  /// What its `models` lists.
  func classes(of position: Int) throws -> [Int] {
    let type = index.types[position]
    guard let models = try values.value(of: "models", in: position), let classes = try values.types(of: models) else {
      throw type.place.error("the models of \(type.declaration.name) cannot be read: write them as [A.self, B.self]")
    }
    for found in classes where !index.types[found].declaration.isModel {
      throw models.place.error(
        "\(index.types[found].declaration.name) (\(index.types[found].place)) is no class with @Model")
    }
    return classes
  }

  private func identifier(of position: Int) throws -> [Int64] {
    let type = index.types[position]
    guard var found = try values.value(of: "versionIdentifier", in: position) else {
      throw type.place.error("\(type.declaration.name) has no versionIdentifier that can be read")
    }
    if let names = found.value.names, let next = try values.value(of: names, at: found) { found = next }
    guard case .call(let function, let arguments) = found.value, Self.isVersion(function) else {
      throw found.place.error("the versionIdentifier of \(type.declaration.name) is no Schema.Version(1, 0, 0)")
    }
    let numbers = arguments.compactMap { if case .integer(let number) = $0.value { number } else { nil } }
    guard numbers.count == 3, arguments.count == 3 else {
      throw found.place.error("the versionIdentifier of \(type.declaration.name) has not three numbers")
    }
    return numbers
  }

  static func isVersion(_ function: SourceExpression) -> Bool {
    if case .member(nil, "init") = function { return true }
    return function.names.map { ($0.last == "init" ? $0.dropLast() : $0[...]).suffix(2) == ["Schema", "Version"] }
      ?? false
  }
}

/// A version of a schema, with its place in the index.
struct SchemaVersion {
  let position: Int
  /// Major, minor, patch.
  let numbers: [Int64]
  let model: ManagedObjectModel
}
