import CoreDataModel

/// What somebody changed in a version of a model, as far as version hashes hold it: `Book.rating became optional`.
///
/// The keys of its JSON are the names of the properties here; they stay as they are.
public struct ModelEdit: Sendable, Equatable, Codable, CustomStringConvertible {
  /// The entity, by its new name; by the old one if it was removed.
  public var entity: String
  /// The property, by its old name; by the new one if it was added. Nil if the entity itself changed.
  public var property: String?
  /// What happened: `became optional`.
  public var text: String

  /// `Entity.property became optional`.
  public var description: String { "\(entity)\(property.map { ".\($0)" } ?? "") \(text)" }

  /// The edits that make the first model the second one, entity by entity.
  package static func list(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [ModelEdit] {
    EditReader(source: source, destination: destination).edits()
  }

  /// Some of them as a part of a sentence; empty without any.
  package static func text(_ edits: [ModelEdit]) -> String {
    guard !edits.isEmpty else { return "" }
    let more = edits.count > mostTold ? ", and \(edits.count - mostTold) more" : ""
    let list = edits.prefix(mostTold).map(\.description).joined(separator: ", ")
    return "the likeliest edit\(edits.count == 1 ? "" : "s") since the store was written: \(list)\(more)"
  }

  /// Nobody reads twenty edits in an error.
  private static let mostTold = 4
}
