import Streams

/// An inferred step may make an attribute required only while no row lacks a value (E.2, rule 4): counted before anything is
/// written.
struct InferredRequirements {
  let step: MigrationStep
  /// Is this the path's first step? Only then the rows at hand are those that it will read; of later steps the verifier
  /// counts missing values as warnings.
  let isFirst: Bool

  func check(_ reader: StoreReader, _ binding: StoreBinding) throws {
    guard isFirst else { return }
    for mapping in step.mappingModels.flatMap(\.entityMappings) {
      guard let source = mapping.sourceEntity, let destination = mapping.destinationEntity else { continue }
      for property in mapping.attributeMappings {
        guard let target = step.destination.attribute(property.name, of: destination) else { continue }
        var name = property.name
        if case .keyPath(.variable("source"), let path) = property.valueExpression, path.count == 1 { name = path[0] }
        let old = step.source.attribute(name, of: source)
        guard Inference.needsValues(target, from: old) else { continue }
        let missing = try count(reader, binding, entity: source, attribute: old?.name)
        guard missing == 0 else {
          throw BatchError(
            .refused, "the required attribute \(property.name) would have no value in \(missing) objects",
            hint: "Give it a default value, or map it with a mapping model; nothing was written", path: reader.path,
            entity: destination)
        }
      }
    }
  }

  /// Objects of an entity without a value: all of them when the attribute is new.
  private func count(_ reader: StoreReader, _ binding: StoreBinding, entity: String, attribute: String?) throws -> UInt64 {
    let source = try SourceEntity(name: entity, binding: binding)
    let table = binding.tables[source.table]
    let position = attribute.flatMap { source.attributes[$0]?.position }
    let fallback = position.flatMap { table.schema.columns[$0].defaultValue } ?? .null
    let scan = TableScan(
      snapshot: reader.snapshot, root: table.schema.rootPage, rowLimit: .max, longValuesFrom: MemoryBudget.longValueBytes)
    let (page, row) = (RowPage(), RecordDecoder())
    var missing: UInt64 = 0
    while try scan.next(into: page) {
      for index in 0..<page.count where row.decode(page.record(index)) {
        guard row.integer(table.positions[1]) == Int64(source.number) else { continue }
        guard let position else {
          missing += 1
          continue
        }
        let isNull = position < row.columnCount ? row.type(position) == SerialType.null : fallback == .null
        if isNull { missing += 1 }
      }
    }
    return missing
  }
}
