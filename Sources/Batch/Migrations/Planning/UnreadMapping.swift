import CoreDataModel
import MappingModels
import RunSupport

/// A mapping model of an application that cannot be read.
package struct UnreadMapping: Sendable, Equatable {
  /// The path that commands take.
  package let path: String
  /// How a person knows it: the path in the application.
  package let place: String
  /// Why it cannot be read.
  package let reason: String
  private let remains: MappingRemains

  /// Looks at what can still be told of it.
  package init(path: String, place: String, reason: String) {
    (self.path, self.place, self.reason, remains) = (path, place, reason, MappingRemains(path: path))
  }

  /// The steps that it may be for.
  package enum Reach: Sendable, Equatable {
    /// Nobody knows.
    case any
    case pairs(Set<VersionGraph.Pair>)

    package func holds(_ pair: VersionGraph.Pair) -> Bool {
      switch self {
      case .any: true
      case .pairs(let pairs): pairs.contains(pair)
      }
    }
  }

  /// The steps between versions that it may be for: what it calls them counts first, then version hashes, then the name
  /// of its file.
  package func reach(names: [String], hashes: [[String: [UInt8]]]) -> Reach {
    if let source = remains.source, let destination = remains.destination {
      let called = Self.pairs(names.count) { names[$0] == source && names[$1] == destination }
      if !called.isEmpty { return .pairs(called) }
    }
    let (plain, file) = (names.map(Self.plain), Self.plain(remains.name))
    let named = Self.pairs(names.count) { Self.names(file, source: plain[$0], destination: plain[$1]) }
    guard !remains.hashes.isEmpty else { return named.isEmpty ? .any : .pairs(named) }
    let sets = hashes.map { Set($0.values) }
    let known = remains.hashes.filter { hash in sets.contains { $0.contains(hash) } }
    // None is known: it is for another model.
    guard !known.isEmpty else { return .pairs([]) }
    let fitting = Self.pairs(names.count) { source, destination in
      known.allSatisfy { sets[source].contains($0) || sets[destination].contains($0) }
    }
    // Entities that stay as they are fit many steps.
    return .pairs(named.isDisjoint(with: fitting) ? fitting : named.intersection(fitting))
  }

  private static func pairs(_ count: Int, _ isOne: (Int, Int) -> Bool) -> Set<VersionGraph.Pair> {
    var found: Set<VersionGraph.Pair> = []
    for source in 0..<count {
      for destination in 0..<count where source != destination && isOne(source, destination) {
        found.insert(VersionGraph.Pair(source: source, destination: destination))
      }
    }
    return found
  }

  /// Letters and digits alone: Library1_to_Library2 is for Library 1 and Library 2.
  private static func plain(_ name: String) -> Substring {
    name.lowercased().filter { $0.isLetter || $0.isNumber }[...]
  }

  /// Whether a file's name begins with those of two versions.
  private static func names(_ file: Substring, source: Substring, destination: Substring) -> Bool {
    guard !source.isEmpty, !destination.isEmpty, file.hasPrefix(source) else { return false }
    let rest = file.dropFirst(source.count)
    return [rest, rest.hasPrefix("to") ? rest.dropFirst(2) : rest].contains { rest in
      // Delta 2 is not the beginning of Delta 20.
      rest.hasPrefix(destination) && rest.dropFirst(destination.count).first?.isNumber != true
    }
  }
}
