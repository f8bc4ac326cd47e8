import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// Where the files lie that a store's rows name.
public struct ExternalDataPlaces: Sendable, Equatable {
  /// The folder under the name that the store has, or is about to get.
  public var folder: ExternalDataFolder
  /// The folder of the store that it was made from; nil if that is not known.
  public var source: ExternalDataFolder?

  /// The folder of a store, and that of its source.
  public init(store: String, source: String? = nil) {
    folder = ExternalDataFolder(store: store)
    self.source = source.map(ExternalDataFolder.init(store:))
  }
}

/// Finds the file of every value that an attribute keeps outside of the store, and compares it with the source's.
struct ExternalDataCheck: Sendable {
  let table: SweptTable
  let property: PropertyReference
  let column: String
  let places: ExternalDataPlaces
  let fileSystem: any FileSystem
  let monitor: RunMonitor?

  func check(weight: Double) -> StoreCheck {
    StoreCheck(name: "the files of \(property)", weight: weight, run: run)
  }

  private enum State { case same, missing, missingInSource, different }

  private func run(on connection: StoreConnection) throws -> CheckFindings {
    var (missing, before, different) = (KeyTally(), KeyTally(), KeyTally())
    var report = ExternalDataReport()
    let name = StoreConnection.quoted(column)
    // SQLite gives type and length of a value without reading its pages.
    let sql =
      "SELECT \(table.rowid), \(name) FROM \(table.quoted) NOT INDEXED WHERE typeof(\(name)) = 'blob' AND length(\(name)) = 38"
    try connection.rows(sql) { row in
      guard case .blob(let bytes) = row.cell(1), case .file(let name) = ExternalValue(bytes) else { return }
      report.references += 1
      switch try state(of: name, &report) {
      case .same: break
      case .missing: missing.add(row.integer(0))
      case .missingInSource: before.add(row.integer(0))
      case .different: different.add(row.integer(0))
      }
    }
    var findings = CheckFindings(external: report)
    let lost = "the file of a value outside the store is missing"
    findings.add(table.fault(.externalData, message: lost, tally: missing, property: property))
    findings.add(
      table.fault(.externalData, message: lost + ", and was in the source", tally: before, property: property),
      asWarning: true)
    findings.add(
      table.fault(
        .externalData, message: "the file of a value outside the store is not the source's", tally: different,
        property: property))
    return findings
  }

  private func state(of name: String, _ report: inout ExternalDataReport) throws -> State {
    try monitor?.throwIfStopRequested()
    // A name comes from the store, and leads to no other folder.
    guard !name.contains("/"), !name.contains("\0") else { return places.source == nil ? .missing : .missingInSource }
    let path = FilePaths.join(places.folder.files, name)
    let original = places.source.map { FilePaths.join($0.files, name) }
    // People keep large files on another disk, and links in their place.
    let before = try original.flatMap { try fileSystem.status($0) }.flatMap { $0.isRegularFile ? $0 : nil }
    guard let found = try fileSystem.status(path), found.isRegularFile else {
      return places.source != nil && before == nil ? .missingInSource : .missing
    }
    guard let original, let before else { return .same }
    guard found.device != before.device || found.inode != before.inode else {
      report.shared += 1
      return .same
    }
    report.compared += 1
    func heed() throws { try monitor?.throwIfStopRequested() }
    return try found.size == before.size && FileCopy.areEqual(path, and: original, fileSystem, heed: heed)
      ? .same : .different
  }

}

extension CheckPlan {
  /// One check for every column whose values may lie outside the store.
  func externalChecks(_ places: ExternalDataPlaces, fileSystem: any FileSystem, monitor: RunMonitor?)
    -> [StoreCheck]
  {
    binding.tables.flatMap { bound in
      bound.layout.columns.compactMap { column in
        guard case .attribute(let entity, let name) = column.role,
          layout.model.attribute(name, of: entity)?.allowsExternalBinaryDataStorage == true,
          let table = table(bound.schema.name), let stored = self.column(column.role, in: bound)
        else { return nil }
        let check = ExternalDataCheck(
          table: table, property: PropertyReference(entity: entity, name: name), column: stored, places: places,
          fileSystem: fileSystem, monitor: monitor)
        return check.check(weight: Double(largestKey(of: bound.schema.name)))
      }
    }
  }
}
