import CoreDataModel
import CoreDataStore
import Foundation
import LoadTables
import MappingModels
import RunSupport

/// What ordinary tables cannot hold of a store, or hold in another form: a line for each, with counts.
struct PlainAccount {
  let schema: LoadSchema
  let rules: PlainRules

  private var model: ManagedObjectModel { schema.layout.model }

  /// What follows from the model alone. `rows` are objects by entity, where they are known.
  func ofModel(_ rows: [String: UInt64]) -> [String] {
    schema.notes + archives(rows) + derived + fetched + checks + deleteRules + names + [
      "not loaded: Z_OPT, the store's UUID and metadata, persistent history, and tables of CloudKit"
    ]
  }

  private func list(_ items: [String]) -> String { items.joined(separator: ", ") }

  private func archives(_ rows: [String: UInt64]) -> [String] {
    model.entities.flatMap { entity in
      entity.attributes.filter { $0.type == .transformable }.map { attribute in
        let kinds = rows.filter { model.isKind($0.key, of: entity.name) }
        let count = kinds.isEmpty ? "" : " (\(kinds.values.reduce(0, +).counted("object")))"
        return "\(entity.name).\(attribute.name)\(count) stays the archive that it is, as a BLOB"
      }
    }
  }

  private func properties(_ isWanted: (AttributeDescription) -> Bool) -> [String] {
    model.entities.flatMap { entity in entity.attributes.filter(isWanted).map { "\(entity.name).\($0.name)" } }
  }

  private var derived: [String] {
    let found = properties { $0.derivationExpression != nil }
    return found.isEmpty ? [] : ["values stay, and are no longer derived from others: \(list(found))"]
  }

  private var fetched: [String] {
    let found = model.entities.flatMap { entity in entity.fetchedProperties.map { "\(entity.name).\($0.name)" } }
    return found.isEmpty ? [] : ["fetched properties have no counterpart: \(list(found))"]
  }

  private var checks: [String] {
    let found = properties {
      $0.minimumValue != nil || $0.maximumValue != nil || $0.regularExpression != nil
    }
    return found.isEmpty ? [] : ["minimum, maximum or pattern are not checked by the tables: \(list(found))"]
  }

  private var deleteRules: [String] {
    let found = PlainReferences(schema: schema).unsaid
    return found.isEmpty ? [] : ["no foreign key says the delete rule of \(list(found))"]
  }

  private var names: [String] {
    schema.renamed.map { "\($0.wanted) is named \($0.given), because the name is taken" }
  }

  /// What the rows have.
  func ofRows(_ outcomes: [PlainBuild.Outcome]) -> [String] {
    zip(schema.tables, outcomes).flatMap { table, outcome in
      PlainRemarks.Remark.allCases.flatMap { remark in
        outcome.remarks.counts[remark, default: [:]].sorted { $0.key < $1.key }.map { column, count in
          text(
            remark, of: "\(table.name).\(PlainNames.quoted(table.columns[column].name))", count: count,
            loss: outcome.remarks.losses[column] ?? 0)
        }
      }
    }
  }

  private func text(_ remark: PlainRemarks.Remark, of column: String, count: UInt64, loss: Double) -> String {
    let rows = count.counted("row")
    switch remark {
    case .missing:
      return "\(column) may be NULL, because \(rows) \(count.verb("lacks", "lack")) the value that the model requires"
    case .rounded:
      return "\(column): times are rounded in \(rows), "
        + (rules.dates == .iso ? "to whole microseconds" : "by \(Self.most(loss)) at most")
    case .wide: return "\(column): numbers of \(rows) are larger than the attribute's type; they are kept"
    case .nul: return "\(column): texts of \(rows) have a NUL; they are kept, but SQL's functions end there"
    case .notUTF8: return "\(column): texts of \(rows) are not UTF-8; their bytes are kept"
    case .notANumber: return "\(column) is NULL in \(rows), because what stands there is no number (NaN)"
    case .lostFile: return "\(column) is NULL in \(rows), because the files with the values are gone"
    }
  }

  /// A time with two digits, rounded up: what is lost is never more.
  static func most(_ seconds: Double) -> String {
    let units = [
      (1e-6, "microseconds"), (1e-3, "milliseconds"), (1, "seconds"), (86400, "days"), (31_556_952, "years"),
    ]
    let (size, name) = units.last { seconds >= $0.0 } ?? units[0]
    let count = seconds / size
    let place = count > 0 ? pow(10, floor(log10(count)) - 1) : 1
    // What the division itself adds is no loss.
    let digits = (count / place - 1e-9).rounded(.up)
    let rounded = place < 1 ? digits / (1 / place) : digits * place
    return "\(DecimalText.text(rounded)) \(name)"
  }
}
