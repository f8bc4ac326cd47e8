import Codecs
import Streams

extension ManagedObjectModel {
  /// Whether columns hold the same properties in another version with the same version hashes. The hash of a composite
  /// attribute leaves out its name (A.6), from which its columns follow.
  package func hasColumns(of other: ManagedObjectModel) -> Bool {
    compositePaths == other.compositePaths
  }

  /// Whether an entity has composite attributes: without any, the hashes tell all that columns hold.
  package var hasComposites: Bool { !compositePaths.isEmpty }

  /// What tells versions with the same hashes apart by what their columns hold.
  package var columnsDigest: String {
    let text = compositePaths.sorted { $0.key < $1.key }.map {
      "\($0.key): \($0.value.sorted().joined(separator: ", "))"
    }
    return SHA256.hash(Array(text.joined(separator: "\n").utf8)).prefix(6).hexadecimal
  }

  /// By entity, the paths of the elements of its composite attributes.
  private var compositePaths: [String: Set<String>] {
    entities.reduce(into: [:]) { paths, entity in
      let found = entity.attributes.filter { $0.type == .composite && !$0.isTransient }.flatMap {
        $0.leaves.map(\.path)
      }
      if !found.isEmpty { paths[entity.name] = Set(found) }
    }
  }
}
