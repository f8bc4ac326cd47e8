import Foundation
import RunSupport
import Streams

/// The package that a program of policies is compiled from: rewritten sources, a definition for each policy, a main
/// file.
struct PolicyPackage {
  static let product = "godwit-policies"
  let program: PolicyProgram
  /// The sources of Godwit.
  let checkout: String

  /// Writes it to a folder, which holds nothing else afterwards; what has not changed is left, and not compiled again.
  func write(to folder: String) throws {
    let sources = folder + "/Sources"
    var files = [folder + "/Package.swift": manifest, sources + "/main.swift": main]
    for (number, file) in program.files.enumerated() {
      files["\(sources)/Source\(number).swift"] = text(of: file, number)
    }
    let manager = FileManager.default
    do {
      try manager.createDirectory(atPath: sources, withIntermediateDirectories: true)
      for name in try manager.contentsOfDirectory(atPath: sources) where files["\(sources)/\(name)"] == nil {
        try manager.removeItem(atPath: "\(sources)/\(name)")
      }
      for (path, text) in files where (try? String(contentsOfFile: path, encoding: .utf8)) != text {
        try text.write(toFile: path, atomically: true, encoding: .utf8)
      }
    } catch {
      throw BatchError(
        .failed, "the package of the policies cannot be written", hint: "Name another folder with --build-folder",
        path: folder, cause: error)
    }
  }

  private var manifest: String {
    """
    // swift-tools-version: 6.2
    import PackageDescription

    let package = Package(
      name: "policies",
      dependencies: [.package(name: "godwit", path: \(checkout.swiftLiteral), traits: [])],
      targets: [
        .executableTarget(
          name: "\(Self.product)",
          dependencies: ["Batch", "BatchCommand", "CoreData"].map { .product(name: $0, package: "godwit") },
          path: "Sources", swiftSettings: [.swiftLanguageMode(.v5)])
      ])

    """
  }

  private var main: String {
    let count = PolicyIndex(program.files).policies.count
    let names = (0..<count).map { "CoreDataPolicy<GodwitPolicy\($0)>.self" }.joined(separator: ", ")
    return "import Batch\nimport BatchCommand\nimport CoreData\n\nGodwitCommand.main(policies: [\(names)])\n"
  }

  /// A file as the compiler gets it; its errors name the file of the application.
  private func text(of file: PolicyFile, _ number: Int) -> String {
    let all = PolicyIndex(program.files).policies
    let definitions = all.indices.filter { all[$0].file.path == file.path }.map { definition($0, all[$0]) }
    return "#sourceLocation(file: \(file.path.swiftLiteral), line: 1)\n" + file.rewritten
      + "\n#sourceLocation()\n" + definitions.joined()
  }

  private func definition(_ number: Int, _ found: PolicyIndex.Found) -> String {
    let functions = found.methods.map { function($0, of: found.policy) }.joined()
    return """

      enum GodwitPolicy\(number): PolicyDefinition {
        static var className: String { \(found.policy.exposedName.swiftLiteral) }
        static var version: String { "\(program.version)" }
        static var createsRelationships: Bool { \(found.overrides) }
        static var lookups: [PolicyLookup] { [\(lookups)] }
        static var functions: [String: PolicyFunction] {
          [
      \(functions.isEmpty ? "      :\n" : functions)    ]
        }
        static func make() -> NSEntityMigrationPolicy { \(found.policy.name)() }
      }

      """
  }

  private func function(_ method: PolicyClass.Method, of policy: PolicyClass) -> String {
    let labels = method.labels.enumerated().map { ($1.map { "\($0): " } ?? "") + "arguments(\($0))" }
    let call = "policy.\(method.name)(\(labels.joined(separator: ", ")))"
    return """
          \(method.selector.swiftLiteral): { policy, arguments in
            guard let policy = policy as? \(policy.name) else { return nil }
            \(method.givesValue ? "return try \(call)" : "try \(call)\n        return nil")
          },

      """
  }

  /// What fetches of all files may look for.
  private var lookups: String {
    var words = FetchWords()
    for file in program.files { words.add(file.words) }
    return words.lookups.map {
      "PolicyLookup(entity: \($0.entity.swiftLiteral), attribute: \($0.attribute.swiftLiteral))"
    }.joined(separator: ", ")
  }
}
