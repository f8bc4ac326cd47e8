/// Which classes of files are policies, whichever file their parents are in.
struct PolicyIndex {
  typealias Found = (policy: PolicyClass, file: PolicyFile, methods: [PolicyClass.Method], overrides: Bool)

  private static let base = "NSEntityMigrationPolicy"
  private let files: [PolicyFile]
  /// By the last part of the name.
  private var parents: [String: PolicyClass] = [:]
  private var known: Set<String> = [base]

  /// Looks at files, and knows of parents in others.
  init(_ files: [PolicyFile], beside others: [PolicyFile] = []) {
    self.files = files
    let classes = (files + others).flatMap(\.classes)
    for found in classes { parents[Self.short(found.name)] = found }
    while let next = classes.first(where: { known.contains($0.parent) && !known.contains(Self.short($0.name)) }) {
      known.insert(Self.short(next.name))
    }
  }

  private static func short(_ name: String) -> String { name.split(separator: ".").last.map(String.init) ?? name }

  /// Whether a file declares policies, or extends one.
  func hasPolicies(_ file: PolicyFile) -> Bool {
    file.classes.contains { known.contains($0.parent) } || file.methods.keys.contains { known.contains(Self.short($0)) }
  }

  /// The policies, with what mapping models can call of them and of their parents.
  var policies: [Found] {
    files.flatMap { file in
      file.classes.filter { known.contains($0.parent) }.map { policy in
        let line = ancestry(of: policy)
        let names = line.flatMap { [$0.name, Self.short($0.name)] }
        var methods: [PolicyClass.Method] = []
        for method in files.flatMap({ file in names.flatMap { file.methods[$0] ?? [] } })
        where !methods.contains(where: { $0.selector == method.selector }) {
          methods.append(method)
        }
        return (
          policy, file, methods.sorted { $0.selector < $1.selector }, line.contains(where: \.overridesRelationships)
        )
      }
    }
  }

  /// A class and its parents.
  private func ancestry(of policy: PolicyClass) -> [PolicyClass] {
    var line = [policy]
    while line.count < 64, let parent = line.last.flatMap({ parents[$0.parent] }), parent != line.last {
      line.append(parent)
    }
    return line
  }
}
