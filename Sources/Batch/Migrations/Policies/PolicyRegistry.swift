import MappingModels
import RunSupport

/// The policies that a program knows, by class name.
public struct PolicyRegistry: Sendable {
  private let types: [String: any EntityMigrationPolicy.Type]
  /// File and line of policies in the sources of an application, by class name.
  package var places: [String: String] = [:]
  /// Their paths, by class name.
  package var files: [String: String] = [:]

  /// Registers policy types; of two with one name the later counts.
  public init(_ types: [any EntityMigrationPolicy.Type] = []) {
    self.types = Dictionary(types.map { ($0.className, $0) }, uniquingKeysWith: { _, new in new })
  }

  /// The same with one policy more.
  func adding(_ type: any EntityMigrationPolicy.Type) -> PolicyRegistry { PolicyRegistry(Array(types.values) + [type]) }

  /// Names of all policies, sorted.
  public var names: [String] { types.keys.sorted() }

  /// Makes the policy of an entity mapping, which its rules are as well; nil when the mapping has none.
  ///
  /// - Throws: ``BatchError``: `missingPolicy`.
  public func policy(for mapping: EntityMapping) throws -> (any EntityMigrationPolicy)? {
    if let rules = mapping.rules { return RulePolicy(rules) }
    guard let name = mapping.policyClassName else { return nil }
    return try type(name, mapping: mapping).init()
  }

  /// The version of the policy or of the rules; nil when the mapping has neither or is skipped.
  ///
  /// - Throws: ``BatchError``: `missingPolicy`.
  public func version(for mapping: EntityMapping) throws -> String? {
    // What is skipped may be corrected meanwhile.
    guard !mapping.isSkipped else { return nil }
    if mapping.rules != nil { return RulePolicy.version }
    guard let name = mapping.policyClassName else { return nil }
    return try type(name, mapping: mapping).version
  }

  /// How to make one of the source of a class.
  private static func advice(_ path: String) -> String {
    guard path.hasSuffix(".swift") else { return "" }
    return ", or make one: godwit policies build \(ShellWords.quoted(path)) --output godwit-policies"
  }

  private func type(_ name: String, mapping: EntityMapping) throws -> any EntityMigrationPolicy.Type {
    // Swift classes stand in mapping models as Module.Class.
    let short = name.split(separator: ".").last.map(String.init) ?? name
    if let type = types[name] ?? types[short] { return type }
    let known = names.isEmpty ? "this program has none" : "this program has \(names.joined(separator: ", "))"
    let place = places[short].map { "; the application has it in \($0)" } ?? ""
    throw BatchError(
      .missingPolicy, "entity mapping \(mapping.name) needs the policy \(name); \(known)\(place)",
      hint: "Run the program that registers \(short)\(files[short].map(Self.advice) ?? ""). "
        + "Or write rules in its place: \(ProgramName.current) mapping convert MAPPINGMODEL > RULES.yaml begins a file of them",
      effect: .nothingWritten)
  }
}
