import CoreDataModel
import CoreDataStore
import RunSupport

/// Z_METADATA and Z_PRIMARYKEY: the store's identity, its model, its entity numbers and the next keys.
struct FixedTableCheck {
  let layout: StoreLayout
  let path: String
  /// Whether the store was built just now. Then nothing may deviate; in one that Core Data migrated, Z_NAME may be an
  /// old one.
  let isNew: Bool

  /// Checks Z_METADATA.
  func metadata(expectedUUID: String?, on connection: StoreConnection) throws -> CheckFindings {
    var findings = CheckFindings()
    func fault(_ message: String, entity: String? = nil, count: Int = 1) {
      findings.add(
        Violation(kind: .metadata, entity: entity, table: "Z_METADATA", message: message, count: UInt64(count)))
    }
    var found: [(uuid: String?, list: [UInt8]?)] = []
    try connection.rows("SELECT Z_UUID, Z_PLIST FROM Z_METADATA LIMIT 2") { found.append(($0.text(0), $0.blob(1))) }
    guard let row = found.first, found.count == 1 else {
      fault(found.isEmpty ? "there is no metadata" : "there is more than one row of metadata")
      return findings
    }
    let uuid = row.uuid ?? ""
    if uuid.isEmpty { fault("there is no UUID") }
    if let expectedUUID, uuid != expectedUUID { fault("the UUID is \(uuid) instead of \(expectedUUID)") }
    do {
      let hashes = try StoreMetadata(uuid: uuid, plist: row.list, path: path).versionHashes
      let wanted = layout.model.versionHashes
      let differing = Set(hashes.keys).union(wanted.keys).filter { hashes[$0] != wanted[$0] }.sorted()
      if let first = differing.first {
        fault("the version hash is not the one of model \(layout.model.name)", entity: first, count: differing.count)
      }
    } catch let error as BatchError {
      fault(error.message)
    }
    return findings
  }

  /// Checks Z_PRIMARYKEY. `largest` holds the largest key of every entity table, by root entity.
  func primaryKeys(largest: [String: Int64], on connection: StoreConnection) throws -> CheckFindings {
    var findings = CheckFindings()
    var wanted = PrimaryKeyTable(layout: layout, maxima: largest).rows.reduce(into: [Int64: PrimaryKeyTable.Row]()) {
      $0[Int64($1.entityNumber)] = $1
    }
    try connection.rows("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT") { row in
      let (number, name) = (row.integer(0), row.text(1) ?? "")
      if let expected = wanted.removeValue(forKey: number) {
        compare(expected, name: name, superNumber: row.integer(2), maximum: row.integer(3), into: &findings)
      } else {
        // Numbers of Core Data's own entities, as those of history, are far beyond the model's.
        let message = "entity number \(number) (\(name)) is not the model's"
        findings.add(Self.keyFault(message, entity: nil), asWarning: number >= StoreReader.firstForeignNumber)
      }
    }
    for row in wanted.values.sorted(by: { $0.entityNumber < $1.entityNumber }) {
      findings.add(Self.keyFault("there is no row for entity number \(row.entityNumber)", entity: row.name))
    }
    return findings
  }

  private func compare(
    _ expected: PrimaryKeyTable.Row, name: String, superNumber: Int64, maximum: Int64,
    into findings: inout CheckFindings
  ) {
    let entity = expected.name
    if name != entity {
      let message = "entity number \(expected.entityNumber) is called \(name)"
      findings.add(Self.keyFault(message, entity: entity), asWarning: !isNew)
    }
    if superNumber != Int64(expected.superNumber) {
      findings.add(Self.keyFault("Z_SUPER is \(superNumber) instead of \(expected.superNumber)", entity: entity))
    }
    if maximum < expected.maximum {
      let message = "Z_MAX is \(maximum), below a key in use"
      findings.add(Self.keyFault(message, entity: entity, key: expected.maximum))
    }
  }

  private static func keyFault(_ message: String, entity: String?, key: Int64? = nil) -> Violation {
    Violation(
      kind: .primaryKeys, entity: entity, table: "Z_PRIMARYKEY", message: message,
      examples: key.map { [Violation.Example(key: $0, destination: nil)] } ?? [])
  }
}
