import CoreDataModel
import MappingModels
import Migrations
import RunSupport

extension Application {
  /// Mapping models that cannot be read, and that may be for a step of a model.
  package func unread(for model: Model) -> [UnreadMapping] {
    problems.compactMap(\.mapping).filter { !isMade($0) }.filter { mapping in
      switch Self.reach(mapping, model) {
      case .pairs(let pairs): return !pairs.isEmpty
      // If nobody knows, it is for every model, unless another one has versions that it names.
      case .any: return !models.contains { $0.place != model.place && Self.reach(mapping, $0).isKnown }
      }
    }
  }

  /// The steps of a model that such a mapping model may be for, by the positions of the versions.
  static func reach(_ mapping: UnreadMapping, _ model: Model) -> UnreadMapping.Reach {
    mapping.reach(names: model.bundle.versions.map(\.name), hashes: model.bundle.versions.map(\.versionHashes))
  }

  /// Whether Xcode made it of sources that can be read.
  private func isMade(_ mapping: UnreadMapping) -> Bool {
    mapping.path.hasSuffix(".cdm")
      && mappings.contains {
        $0.path.hasSuffix(".xcmappingmodel") && PackageFolders.stem($0.path) == PackageFolders.stem(mapping.path)
      }
  }
}

extension UnreadMapping.Reach {
  fileprivate var isKnown: Bool {
    if case .pairs(let pairs) = self { return !pairs.isEmpty }
    return false
  }
}
