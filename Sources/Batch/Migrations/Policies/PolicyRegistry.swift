import MappingModels
import RunSupport

/// The policies that a program knows, by class name.
public struct PolicyRegistry: Sendable {
  private let types: [String: any EntityMigrationPolicy.Type]
  /// What the sources of an application have, by class name.
  package var sources: [String: Source] = [:]
  /// Paths of mapping models by their names, as far as they are known.
  package var mappings: [String: String] = [:]
  /// What commands call mapping models that were unpacked, by their paths.
  package var places: [String: String] = [:]
  /// The options with which commands name the models.
  package var models: [String] = []
  /// The words before `policies build` that call a program which reads Swift.
  package var builder = [ProgramName.current]

  /// A policy in the sources of an application.
  package struct Source: Sendable, Equatable {
    /// File and line, as a person names them.
    package var place: String
    /// The file's path.
    package var path: String
    /// Why no program can be made of it; nil if one can.
    package var obstacle: String?

    package init(place: String, path: String, obstacle: String?) {
      (self.place, self.path, self.obstacle) = (place, path, obstacle)
    }
  }

  /// Registers policy types; of two with one name the later counts.
  public init(_ types: [any EntityMigrationPolicy.Type] = []) {
    self.types = Dictionary(types.map { ($0.className, $0) }, uniquingKeysWith: { _, new in new })
  }

  /// The same with one policy more.
  func adding(_ type: any EntityMigrationPolicy.Type) -> PolicyRegistry { PolicyRegistry(Array(types.values) + [type]) }

  /// Names of all policies, sorted.
  public var names: [String] { types.keys.sorted() }

  /// Whether there is a policy of that name.
  package func has(_ name: String) -> Bool { type(name) != nil }

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

  /// Checks that all policies of mapping models are known; `steps` are those of each step.
  ///
  /// Throws ``BatchError`` (`missingPolicy`) that names all that are not, and one command that makes a program of them.
  func require(_ steps: [[MappingModel]]) throws {
    let needs = steps.joined().flatMap { model in
      model.entityMappings.compactMap { mapping -> MissingPolicies.Need? in
        guard mapping.rules == nil, let name = mapping.policyClassName, type(name) == nil else { return nil }
        return MissingPolicies.Need(policy: name, mapping: mapping.name, model: model.name)
      }
    }
    guard needs.isEmpty else {
      throw MissingPolicies(needs: needs, registry: self, steps: steps.map { $0.map(\.name) }).error
    }
  }

  private func type(_ name: String) -> (any EntityMigrationPolicy.Type)? {
    types[name] ?? types[MissingPolicies.short(name)]
  }

  private func type(_ name: String, mapping: EntityMapping) throws -> any EntityMigrationPolicy.Type {
    if let type = type(name) { return type }
    let need = MissingPolicies.Need(policy: name, mapping: mapping.name, model: nil)
    throw MissingPolicies(needs: [need], registry: self).error
  }
}
