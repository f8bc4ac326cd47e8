import CoreDataModel
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

  /// Where the versions are declared, and what is in them.
  func places() throws -> ModelPlaces {
    let index = DeclarationIndex(files: files)
    let builder = SchemaBuilder(resolver: TypeResolver(index: index, known: known))
    let values = StaticValues(index: index, files: files)
    let reader = VersionedSchemaReader(builder: builder, values: values)
    var places = ModelPlaces()
    if reader.positions.isEmpty {
      let model = try UnversionedSchemaReader(builder: builder, values: values, files: files).model()
      let classes = index.models.filter { model?.entity(index.types[$0].declaration.name) != nil }
      if let model { places.versions[model.name] = ModelPlaces.Version(parts: classes, in: index) }
    }
    for position in reader.positions {
      let classes = try builder.closure(of: reader.classes(of: position))
      var version = ModelPlaces.Version(parts: classes.sorted(), in: index)
      (version.type, version.place) = (index.name(of: position), index.types[position].place.ofModel)
      places.versions[try reader.version(position).model.name] = version
    }
    return places
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

extension ModelPlaces.Version {
  /// What the classes declare.
  fileprivate init(parts classes: [Int], in index: DeclarationIndex) {
    self.init()
    for type in classes.map({ index.types[$0] }) {
      parts[type.declaration.name] = type.place.ofModel
      for property in type.declaration.properties where !property.isStatic {
        let place = ModelPlaces.Place(file: type.path, line: property.line)
        parts["\(type.declaration.name).\(property.name)"] = place
      }
    }
  }
}

extension DeclarationIndex {
  /// The name of a type with those of the types around it.
  fileprivate func name(of position: Int) -> String {
    let type = types[position]
    return (type.parent.map { name(of: $0) + "." } ?? "") + type.declaration.name
  }
}

extension SourcePlace {
  fileprivate var ofModel: ModelPlaces.Place { ModelPlaces.Place(file: path, line: line) }
}
