import Foundation
import GRDB
import Streams

@testable import CoreDataModel
@testable import CoreDataStore
@testable import RunSupport
@testable import StoreExports

/// Runs exports of a store and compares them with what SQL finds there.
struct ExportTestStore {
  let path: String
  let model: ManagedObjectModel

  /// The exported text.
  func export(
    _ format: ExportFormat = .jsonLines, entity: String? = nil, toMany: Bool = false, limit: UInt64? = nil,
    budget: MemoryBudget = .standard
  ) throws -> (text: String, summary: ExportSummary) {
    let reader = try StoreExport.open(path, LocalFileSystem())
    defer { reader.close() }
    var options = ExportOptions(format: format, entity: entity)
    (options.includesToMany, options.limit, options.memory) = (toMany, limit, budget)
    let export = try StoreExport(reader, model: model, options: options, fileSystem: LocalFileSystem())
    let bytes = Gathered()
    let summary = try export.run(to: { bytes.all.append(contentsOf: $0) })
    return (String(decoding: bytes.all, as: UTF8.self), summary)
  }

  private final class Gathered { var all: [UInt8] = [] }

  func objects(entity: String? = nil, toMany: Bool = false) throws -> [ExportedValue] {
    try export(entity: entity, toMany: toMany).text.split(separator: "\n").map {
      try JSONDecoder().decode(ExportedValue.self, from: Data($0.utf8))
    }
  }

  /// Everything in which an export of the whole store differs from what SQL finds; the number of objects compared.
  func differences(toMany: Bool) throws -> (problems: [String], objects: Int) {
    var exported: [String: [ExportedValue]] = [:]
    for object in try objects(toMany: toMany) {
      guard case .object(let members) = object, case .text(let entity)? = members["entity"] else { continue }
      exported[entity, default: []].append(object)
    }
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    var (problems, count): ([String], Int) = ([], 0)
    try queue.read { database in
      let oracle = try ExportOracle(database, model)
      for entity in oracle.layout.entityNames {
        let wanted = try oracle.objects(entity, withToMany: toMany)
        let found = exported[entity] ?? []
        if wanted.count != found.count {
          problems.append("\(entity): \(found.count) objects instead of \(wanted.count)")
        }
        for (wanted, found) in zip(wanted, found) where !wanted.isMet(by: found) {
          problems.append("\(entity): \(found) instead of \(wanted)")
        }
        count += wanted.count
      }
    }
    return (problems, count)
  }

  /// Fields of CSV (RFC 4180); nil for an empty field without quotes.
  static func fields(_ text: String) -> [[String?]] {
    var (rows, row, field, isQuoted, wasQuoted): ([[String?]], [String?], [UInt8], Bool, Bool) = (
      [], [], [], false, false
    )
    func value() -> String? { field.isEmpty && !wasQuoted ? nil : String(decoding: field, as: UTF8.self) }
    var bytes = Array(text.utf8)[...]
    while let byte = bytes.popFirst() {
      if isQuoted {
        if byte != 0x22 {
          field.append(byte)
        } else if bytes.first == 0x22 {
          field.append(bytes.removeFirst())
        } else {
          isQuoted = false
        }
      } else if byte == 0x22 {
        (isQuoted, wasQuoted) = (true, true)
      } else if byte == 0x2C {
        row.append(value())
        (field, wasQuoted) = ([], false)
      } else if byte == 0x0D, bytes.first == 0x0A {
        bytes.removeFirst()
        row.append(value())
        rows.append(row)
        (row, field, wasQuoted) = ([], [], false)
      } else {
        field.append(byte)
      }
    }
    return rows
  }
}
