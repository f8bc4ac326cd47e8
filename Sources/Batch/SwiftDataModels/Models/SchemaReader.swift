import RunSupport

/// Makes the versions of a model of source files.
struct SchemaReader {
  let files: [SourceFile]
  let known: KnownTypes

  /// Throws ``BatchError`` (`badModel`) with file and line for what cannot be read. No versions if there is no model.
  func read() throws -> SwiftDataSchema {
    let index = DeclarationIndex(files: files)
    let builder = SchemaBuilder(resolver: TypeResolver(index: index, known: known))
    let values = StaticValues(index: index, files: files)
    let reader = VersionedSchemaReader(builder: builder, values: values)
    let positions = reader.positions
    guard !positions.isEmpty else {
      let model = try UnversionedSchemaReader(builder: builder, values: values, files: files).model()
      return SwiftDataSchema(versions: model.map { [$0] } ?? [])
    }
    let versions = try positions.map(reader.version)
    let plan = try MigrationPlanReader.position(in: index)
    let listed = try plan.map { try MigrationPlanReader.schemas(of: $0, values) } ?? []
    let ordered = try ordered(versions, by: listed, in: index)
    let names = Dictionary(uniqueKeysWithValues: ordered.map { ($0.position, $0.model.name) })
    return SwiftDataSchema(
      versions: ordered.map(\.model), plan: plan.map { MigrationPlanReader(values: values, names: names).plan($0) })
  }

  /// As the plan lists them, then by their numbers.
  private func ordered(
    _ versions: [SchemaVersion], by listed: [Int], in index: DeclarationIndex
  ) throws -> [SchemaVersion] {
    let places = Dictionary(listed.enumerated().map { ($1, $0) }) { first, _ in first }
    let ordered = versions.sorted { one, other in
      let (first, second) = (places[one.position] ?? .max, places[other.position] ?? .max)
      return first == second ? one.numbers.lexicographicallyPrecedes(other.numbers) : first < second
    }
    var known: [String: Int] = [:]
    for version in ordered {
      guard let other = known.updateValue(version.position, forKey: version.model.name) else { continue }
      throw index.types[version.position].place.error(
        "\(index.types[version.position].declaration.name) has the versionIdentifier \(version.model.name) of "
          + "\(index.types[other].declaration.name) (\(index.types[other].place))")
    }
    return ordered
  }
}
