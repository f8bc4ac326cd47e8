import CoreDataStore
import MappingModels

/// What the objects of every version of a path have of those of the store, as far as that can be followed: for all that
/// is asked of it before the first row.
struct ComposedPath {
  /// The beginning of the path, then what is known after each step.
  private let compositions: [MappingComposition]

  /// Follows a path. Throws `badModel`.
  init(_ path: [MigrationStep], source: StoreLayout) throws {
    var composition = try MappingComposition(VersionLayout(source))
    var compositions = [composition]
    for step in path {
      if !step.isIdentity {
        let mappings = step.mappingModels.flatMap(\.entityMappings)
        guard (try? composition.append(mappings, to: VersionLayout(step.destination))) != nil else { break }
      }
      compositions.append(composition)
    }
    self.compositions = compositions
  }

  /// What is known after so many steps; nil behind one that cannot be composed: what objects look like then is not known
  /// before it is made.
  func after(_ steps: Int) -> MappingComposition? { compositions.indices.contains(steps) ? compositions[steps] : nil }
}
