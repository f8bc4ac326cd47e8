extension EntityMigrationPolicy {
  /// The destination entities that the policy may write in this mapping: what it declares and the mapping's own; nil where it
  /// declares nothing.
  func declaredWrites(for mapping: EntityMapping) -> [String]? {
    let writes = writes(for: mapping)
    guard !writes.isEmpty || !reads(for: mapping).isEmpty else { return nil }
    return writes + [mapping.destinationEntity].compactMap { $0 }
  }
}

extension MigrationManager {
  /// Throws `policyFailed` where the policy at work declares what it writes, and the entity is not part of it. A link of a many-to-many
  /// relationship has two entities, of which one is enough.
  func checkDeclared(_ entity: DestinationEntity, or other: DestinationEntity? = nil) throws {
    try currentCompiled?._withUnsafeGuaranteedRef { mapping in
      guard !mapping.mayWrite(entity.number), other.map({ !mapping.mayWrite($0.number) }) ?? true else { return }
      throw BatchError(
        .policyFailed, "the policy \(mapping.mapping.policyClassName ?? "") writes \(entity.name), which it does not declare",
        hint: "Add \"\(entity.name)\" to writes(for:) of the policy", entity: mapping.source.name)
    }
  }
}
