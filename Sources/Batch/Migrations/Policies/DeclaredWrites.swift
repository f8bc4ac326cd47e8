import MappingModels
import RunSupport

extension EntityMigrationPolicy {
  /// The destination entities that the policy may write in this mapping: what it declares and the mapping's own; nil if
  /// it declares nothing.
  func declaredWrites(for mapping: EntityMapping) -> [String]? {
    let writes = writes(for: mapping)
    guard !writes.isEmpty || !reads(for: mapping).isEmpty else { return nil }
    return writes + [mapping.destinationEntity].compactMap { $0 }
  }
}

extension CompiledMapping {
  /// Whether the policy may look for objects by an attribute. Those of its own entity it may, and what it waits for as
  /// a whole.
  func mayRead(_ entity: String, _ attribute: String) -> Bool {
    lookups.contains { $0.entity == entity && $0.attribute == attribute } || reads.contains(entity)
      || entity == destination.name
  }
}

extension StepObjects {
  /// Throws `policyFailed` if the policy at work declares what it writes, and the entity is not part of it. A link of a
  /// many-to-many relationship has two entities, of which one is enough.
  func checkDeclared(_ entity: DestinationEntity, or other: DestinationEntity? = nil) throws {
    try currentCompiled?._withUnsafeGuaranteedRef { mapping in
      guard !mapping.mayWrite(entity.number), other.map({ !mapping.mayWrite($0.number) }) ?? true else { return }
      throw BatchError(
        .policyFailed,
        "the policy \(mapping.mapping.policyClassName ?? "") writes \(entity.name), which it does not declare",
        hint: "Add \"\(entity.name)\" to writes(for:) of the policy", entity: mapping.source.name)
    }
  }

  /// Throws `policyFailed` if the policy at work looks for objects of an entity that is not its own, by a look-up that
  /// another one declares: nothing then says that those objects are made before.
  func checkDeclaredRead(_ entity: String, _ attribute: String) throws {
    guard let compiled = currentCompiled else { return }
    try compiled._withUnsafeGuaranteedRef { mapping in
      guard !mapping.mayRead(entity, attribute) else { return }
      let policy = mapping.mapping.policyClassName ?? ""
      throw BatchError(
        .policyFailed, "the policy \(policy) looks for objects of \(entity) by \(attribute), which it does not declare",
        hint: "Add Lookup(entity: \"\(entity)\", attribute: \"\(attribute)\") to lookups(for:) of the policy",
        entity: mapping.source.name)
    }
  }
}
