import CoreDataModel
import CoreDataStore
import MappingModels
import Streams

extension ModelLibrary {
  /// The moment of the migration that made a store, if it is known from a default `Date()` of its model.
  package func moment(of reader: StoreReader) -> Double? { EvaluatedDefaults.moment(of: reader, in: self) }
}

/// Defaults that SwiftData evaluates once when it builds a schema, `UUID()` and `Date()`: all objects of a migration get
/// the same value. So they do here, another one in each store.
struct EvaluatedDefaults {
  /// The store's UUID.
  let store: String
  /// The moment of the migration, in seconds since 2001.
  let now: Double

  /// The library with such values as defaults of its versions.
  func applied(to library: ModelLibrary) -> ModelLibrary {
    guard library.hasEvaluatedDefaults else { return library }
    let bundles = library.bundles.map { bundle in
      var bundle = bundle
      bundle.versions = bundle.versions.map(applied)
      return bundle
    }
    return ModelLibrary(bundles: bundles, hashes: library.hashes)
  }

  /// The moment of the migration that made a store, where its own model has it as such a default; nil where none has.
  static func moment(of reader: StoreReader, in library: ModelLibrary) -> Double? {
    guard library.hasEvaluatedDefaults, let declared = library.model(matching: reader.metadata.versionHashes),
      let own = CachedModel(reader).model
    else { return nil }
    for entity in declared.entities {
      for attribute in entity.attributes where attribute.type == .date && attribute.evaluatedDefault != nil {
        if case .real(let moment)? = own.attribute(attribute.name, of: entity.name)?.defaultValue { return moment }
      }
    }
    return nil
  }

  static func has(_ model: ManagedObjectModel) -> Bool {
    model.entities.contains { $0.attributes.contains { $0.evaluatedDefault != nil } }
  }

  private func applied(to model: ManagedObjectModel) -> ManagedObjectModel {
    guard Self.has(model) else { return model }
    var model = model
    model.entities = model.entities.map { entity in
      var entity = entity
      entity.attributes = entity.attributes.map { applied(to: $0, of: entity.name) }
      return entity
    }
    return model
  }

  private func applied(to attribute: AttributeDescription, of entity: String) -> AttributeDescription {
    guard attribute.evaluatedDefault != nil else { return attribute }
    var attribute = attribute
    attribute.userInfo[AttributeDescription.evaluatedDefault] = nil
    attribute.defaultValue =
      attribute.type == .uuid ? DerivedUUID.value([store, entity, attribute.name]) : .real(now)
    return attribute
  }

  /// What a person should know: new attributes with one value for all objects. `versions` are those of the library as it
  /// was, `applied` the same with values.
  static func notes(
    _ steps: [MigrationStep], versions: [ManagedObjectModel], applied: [ManagedObjectModel]
  ) -> [String] {
    steps.compactMap { step in
      guard let place = applied.firstIndex(of: step.destination) else { return nil }
      let names = step.mappingModels.flatMap(\.entityMappings).flatMap { mapping in
        Self.names(mapping, step: step, declared: versions[place])
      }
      guard !names.isEmpty else { return nil }
      let rules = PerRowKind.allCases.filter { kind in names.contains { $0.type == kind.type } }
        .map { "\($0): per-row" }
      let list = names.map(\.text).joined(separator: ", ")
      return "\(list): new in \(step.destination.name), with a default that is evaluated once, as SwiftData does: all "
        + "objects get the same value; with \(rules.joined(separator: " or ")) in a mapping file each object gets its own"
    }
  }

  private static func names(
    _ mapping: EntityMapping, step: MigrationStep, declared: ManagedObjectModel
  ) -> [(text: String, type: AttributeType)] {
    guard let source = mapping.sourceEntity, let entity = mapping.destinationEntity else { return [] }
    return declared.attributes(of: entity).filter { attribute in
      let mapped = mapping.attributeMappings.first { $0.name == attribute.name }
      return attribute.evaluatedDefault != nil && step.source.attribute(attribute.name, of: source) == nil
        && mapped?.valueExpression == nil
        && mapping.rules?.attributes.contains { $0.name == attribute.name } != true
    }.map { ("\(entity).\($0.name)", $0.type) }
  }
}
