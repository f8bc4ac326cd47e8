import CoreDataModel
import RunSupport

/// Reads the schema of sources without `VersionedSchema`: what `Schema([…])` or a model container names, or all classes
/// with `@Model`.
struct UnversionedSchemaReader {
  private static let mostNames = 20

  let builder: SchemaBuilder
  let values: StaticValues
  let files: [SourceFile]

  private struct List {
    let classes: [Int]
    let place: SourcePlace
    let version: String
    var closure: Set<Int> = []
  }

  func model() throws -> ManagedObjectModel? {
    var (lists, computed) = ([List](), SourcePlace?.none)
    for file in files {
      for use in file.contents.schemas {
        let place = SourcePlace(path: file.path, line: use.line)
        guard let found = try list(use, place) else {
          if !use.isReference { computed = computed ?? place }
          continue
        }
        lists.append(found)
      }
    }
    if let list = try whole(&lists) { return try builder.model(of: list.classes, version: list.version) }
    let models = values.index.models
    if let computed { throw unknown(models, at: computed) }
    return models.isEmpty ? nil : try builder.model(of: models, version: "1.0.0")
  }

  private func unknown(_ models: [Int], at place: SourcePlace) -> BatchError {
    let names = Set(models.map { values.index.types[$0].declaration.name }).sorted().prefix(Self.mostNames)
    let list = names.map { "\($0).self" }.joined(separator: ", ")
    return place.error(
      "the classes of the schema are not written here: the list is handed over or computed",
      hint: "Write those that belong to it into a file of your own, and name it with the sources: "
        + "let schema = Schema([\(list)])")
  }

  /// The list that has all classes of the others: previews and tests name fewer.
  private func whole(_ lists: inout [List]) throws -> List? {
    for place in lists.indices { lists[place].closure = try builder.closure(of: lists[place].classes) }
    guard let largest = lists.max(by: { $0.closure.count < $1.closure.count }) else { return nil }
    if let other = lists.first(where: { !$0.closure.isSubset(of: largest.closure) }) {
      throw other.place.error(
        "two schemas are here, and none has all classes of the other; the other one is at \(largest.place)",
        hint: "Name the files or the folder of one target alone")
    }
    return largest
  }

  /// The classes that a call names; nil if it names none that can be read here.
  private func list(_ use: SourceUse, _ place: SourcePlace) throws -> List? {
    let given = use.arguments.filter { $0.label == (use.name == "Schema" ? nil : "for") }
    guard let first = given.first else { return nil }
    // `ModelContainer(for: A.self, B.self, configurations: …)`
    var expressions = [first.value]
    if first.value.metatype != nil {
      expressions += use.arguments.filter { $0.label == nil && $0.value.metatype != nil && $0 != first }.map(\.value)
    }
    let list = first.value.metatype != nil ? SourceExpression.array(expressions) : first.value
    guard let classes = try values.types(of: .init(value: list, place: place, scope: nil)) else { return nil }
    if let doubt = use.doubt { throw DoubtError.make(doubt, of: "the schema", at: place) }
    for found in classes where !values.index.types[found].declaration.isModel {
      throw place.error("\(values.index.types[found].declaration.name) is no class with @Model")
    }
    return List(classes: classes, place: place, version: try version(use, place))
  }

  private func version(_ use: SourceUse, _ place: SourcePlace) throws -> String {
    guard let version = use.arguments["version"] else { return "1.0.0" }
    guard case .call(let function, let arguments) = version, VersionedSchemaReader.isVersion(function) else {
      throw place.error("the version of the schema is no Schema.Version(1, 0, 0)")
    }
    return arguments.compactMap { if case .integer(let number) = $0.value { "\(number)" } else { nil } }
      .joined(separator: ".")
  }
}

extension SourceUse {
  /// Whether it takes a schema that is made elsewhere: `ModelContainer(for: schema)`, `Schema(versionedSchema: …)`.
  fileprivate var isReference: Bool {
    name != "Schema" || arguments.contains { $0.label == "versionedSchema" }
  }
}
