/// Pairs what was renamed: a destination's renaming identifier names the source's, which is the name when there is
/// none.
struct RenamingMatch {
  struct Item: Equatable {
    let name: String
    let identifier: String?
    var key: String { identifier ?? name }
  }

  /// By destination name, the source name.
  private(set) var pairs: [String: String] = [:]
  /// Sources that several destinations claim, in order of their names.
  private(set) var conflicts: [(source: String, destination: [String])] = []

  init(source: [Item], destination: [Item]) {
    guard source != destination else {
      // As most entities stay: everything is itself, also where several share an identifier, as the name decides then.
      for item in source { pairs[item.name] = item.name }
      return
    }
    let keys = Dictionary(grouping: source, by: \.key)
    for item in destination {
      let candidates = keys[item.key] ?? []
      // Two sources can carry one identifier; then the name decides.
      let found =
        candidates.count == 1
        ? candidates.first
        : candidates.first { $0.name == item.name } ?? candidates.first { $0.name == item.key }
      pairs[item.name] = found?.name
    }
    // An identifier that was added or removed without a renaming matches nothing. Then the name counts: copying the
    // values is what the author of such a model expects, dropping them could not be undone.
    let names = Set(source.map(\.name))
    let claimed = Set(pairs.values)
    for item in destination where pairs[item.name] == nil {
      if names.contains(item.name) && !claimed.contains(item.name) { pairs[item.name] = item.name }
    }
    let claims = Dictionary(grouping: pairs.keys) { pairs[$0] ?? "" }
    conflicts = claims.filter { $0.value.count > 1 }.map { ($0.key, $0.value.sorted()) }.sorted { $0.0 < $1.0 }
  }
}
