/// Something of a store that a migration has no place for.
public struct Loss: Sendable, Hashable, Codable {
  /// The entity.
  public var entity: String
  /// The attribute or relationship; nil for all objects of the entity.
  public var property: String?
  /// How many objects, values that are not null, or links; 0 where nobody counted.
  public var count: UInt64 = 0

  init(_ entity: String, _ property: String? = nil) { (self.entity, self.property) = (entity, property) }

  /// By which ``LossConsent/dropped`` names it: `Book`, or `Book.title`.
  public var path: String { property.map { "\(entity).\($0)" } ?? entity }

  /// As a note names it.
  var name: String { property == nil ? "all objects of \(entity)" : path }

  /// The same with its count.
  var text: String {
    guard property != nil else { return "\(count) \(count == 1 ? "object" : "objects") of \(entity)" }
    return "\(count) \(count == 1 ? "value" : "values") of \(path)"
  }
}

/// What somebody allows a migration to lose, besides what the version history of the model drops.
public struct LossConsent: Sendable, Equatable, Codable {
  /// Everything.
  public var isAll: Bool
  /// Entities, and properties as `Book.title`. An entity stands for all of its properties, too.
  public var dropped: Set<String>

  /// Allows nothing without arguments.
  public init(all: Bool = false, dropped: Set<String> = []) { (isAll, self.dropped) = (all, dropped) }

  func allows(_ loss: Loss) -> Bool { isAll || dropped.contains(loss.path) || dropped.contains(loss.entity) }
}
