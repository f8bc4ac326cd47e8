import RunSupport

/// Reads the type that conforms to `SchemaMigrationPlan`.
struct MigrationPlanReader {
  let values: StaticValues
  /// Names of the versions by their places in the index.
  let names: [Int: String]
  private var index: DeclarationIndex { values.index }

  init(values: StaticValues, names: [Int: String]) { (self.values, self.names) = (values, names) }

  /// The plan's place in the index; nil without one.
  static func position(in index: DeclarationIndex) throws -> Int? {
    let found = index.types.indices.filter {
      let type = index.types[$0]
      return !type.isExternal && type.declaration.kind != .protocol && type.conforms(to: "SchemaMigrationPlan")
    }
    guard found.count > 1 else { return found.first }
    let places = found.map { "\(index.types[$0].declaration.name) (\(index.types[$0].place))" }
    throw index.types[found[1]].place.error(
      "there are several migration plans: \(places.joined(separator: ", "))",
      hint: "Name the files or the folder of one target alone")
  }

  /// The schemas in their order.
  static func schemas(of position: Int, _ values: StaticValues) throws -> [Int] {
    let type = values.index.types[position]
    guard let found = try values.value(of: "schemas", in: position), let schemas = try values.types(of: found) else {
      throw type.place.error(
        "the schemas of \(type.declaration.name) cannot be read: write them as [SchemaV1.self, SchemaV2.self]")
    }
    return schemas
  }

  func plan(_ position: Int) -> SwiftDataPlan {
    let type = index.types[position]
    return SwiftDataPlan(
      name: type.declaration.name, place: type.place,
      stages: Result { () throws(BatchError) in try BatchError.border { try stages(of: position) } })
  }

  private func stages(of position: Int) throws -> [SwiftDataPlan.Stage] {
    let type = index.types[position]
    guard let list = try values.value(of: "stages", in: position), let found = try values.elements(of: list) else {
      throw type.place.error("the stages of \(type.declaration.name) cannot be read: write them as a list")
    }
    return try found.map(stage)
  }

  private func stage(_ written: StaticValues.Found) throws -> SwiftDataPlan.Stage {
    var found = written
    if let names = found.value.names, let next = try values.value(of: names, at: found) { found = next }
    guard case .call(.member(_, let kind), let arguments) = found.value, kind == "lightweight" || kind == "custom"
    else { throw found.place.error("a stage of the migration plan cannot be read") }
    let versions = try ["fromVersion", "toVersion"].map { label in
      guard let type = arguments[label]?.metatype, let name = names[try values.type(type, at: found)] else {
        throw found.place.error("the \(label) of a stage is no VersionedSchema of these sources")
      }
      return name
    }
    let labels: Set<String> = ["willMigrate", "didMigrate", "{}"]
    let hasCode = arguments.contains { labels.contains($0.label ?? "") && $0.value != .none }
    return .init(from: versions[0], to: versions[1], hasCode: hasCode, place: found.place)
  }
}
