import RunSupport

/// One thing of a version, and what becomes of it in the step to the next: every entity, property, index and trigger is
/// in one line.
public struct AccountLine: Sendable, Hashable, Codable {
  /// What it is.
  public enum Kind: String, Sendable, Codable {
    case entity, attribute, relationship, index, constraint, trigger
  }

  /// Where it goes.
  public enum Fate: String, Sendable, Codable {
    /// To the same name.
    case carried
    /// To another name.
    case renamed
    /// To another type.
    case converted
    /// Into what an expression or a rule makes of it.
    case computed
    /// To a policy in code, which may read it.
    case policy
    /// The mapping says another value for the same name.
    case replaced
    /// The model's author has dropped it, or it goes with something that is dropped.
    case dropped
    /// Nowhere, and nobody said so.
    case lost
  }

  /// What decides of every object.
  public enum Rule: String, Sendable, Codable {
    case filter, policy
    /// What a mapping file says to remove.
    case removal
  }

  /// What it is.
  public var kind: Kind
  /// Its entity; of a trigger its table.
  public var entity: String
  /// The property, index, constraint or trigger; nil for the entity itself.
  public var name: String?
  /// Where it goes.
  public var fate: Fate
  /// Names in the next version: entities, or properties as `Book.title`.
  public var to: [String] = []
  /// The entity mappings that take it, or what it goes with.
  public var by: String?
  /// Of a relationship whose links another line counts: that line, as `Book.author`.
  public var countedAs: String?
  /// Objects, values that are not null, or links; nil if nobody counted, and of indexes and triggers.
  public var count: UInt64?
  /// Of converted values those that are not the same number after it.
  public var changed: UInt64?
  /// Of the count those objects that no mapping took, as filters and policies left them out, and what such objects have.
  public var leftOut: UInt64?
  /// Of the count those objects that could not be migrated, and what such objects have.
  public var rejected: UInt64?
  /// Of links those that are not there after it, although their object is: it led to one that was left out or rejected.
  /// Of values and links also those that no mapping carries of those that took the object.
  public var cleared: UInt64?
  /// Of a relationship that no longer takes all of its objects, and of a property that not all mappings of its entity
  /// carry: what becomes of the rest; nil where there can be none.
  public var narrowed: Fate?
  /// How many of these values or links there are, of links at most: filters and rejects at the other end can be among
  /// them.
  public var unfit: UInt64?
  /// What may leave objects of the entity out; nil if a mapping takes all.
  public var leftOutBy: Rule?
  /// Why the objects of an entity, or some of them, are removed, as a mapping file says.
  public var reason: String?

  init(_ kind: Kind, entity: String, name: String? = nil, fate: Fate, to: [String] = [], by: String? = nil) {
    (self.kind, self.entity, self.name, self.fate, self.to, self.by) = (kind, entity, name, fate, to, by)
  }

  /// By which ``LossConsent/dropped`` names it: `Book`, or `Book.title`.
  public var path: String { name.map { "\(entity).\($0)" } ?? entity }

  /// Whether it is gone after the step.
  package var isGone: Bool { fate == .dropped || fate == .lost || fate == .replaced }

  /// What of the count has the line's fate: neither left out nor rejected nor cleared.
  package var share: UInt64 {
    [leftOut, rejected, cleared].reduce(count ?? 0) { $0 - min($0, $1 ?? 0) }
  }

  /// Whether there is nothing that has its fate, as far as somebody counted.
  package var isEmpty: Bool { count != nil && share == 0 }

  /// Whether it holds data of its own, and is not a second view of another line's.
  package var holdsData: Bool { [.entity, .attribute, .relationship].contains(kind) && countedAs == nil }

  /// As a note names it.
  var thing: String {
    switch kind {
    case .entity: "all objects of \(entity)"
    case .attribute, .relationship: path
    case .index: "the index \(path)"
    case .constraint: "the constraint \(path)"
    case .trigger: "the trigger \(name ?? "")"
    }
  }

  /// Of an entity, what a filter or a removal leaves out: `189 objects of Task (the server has deleted them)`; nil if it
  /// leaves out nothing.
  var leaving: String? {
    guard leftOutBy == .filter || leftOutBy == .removal, leftOut != 0 else { return nil }
    let why = reason ?? (leftOutBy == .filter ? "by a filter" : "by its condition to remove them")
    return "\(leftOut.map { $0.counted("object") } ?? "some objects") of \(entity) (\(why))"
  }

  /// The line of what is gone because a relationship no longer takes it; nil if nothing is.
  package var unfitLinks: AccountLine? {
    guard let narrowed, let unfit, unfit > 0 else { return nil }
    var found = self
    (found.fate, found.count) = (narrowed, unfit)
    (found.leftOut, found.rejected, found.cleared) = (nil, nil, nil)
    return found
  }

  /// Of a relationship, what a plan says of its links to objects that are left out; nil if there are none.
  package var clearing: String? {
    guard kind == .relationship, narrowed == nil, let cleared, cleared > 0 else { return nil }
    let (lead, are) = (
      cleared.verb("leads to an object that is", "lead to objects that are"), cleared.verb("is", "are")
    )
    return "\(cleared.counted("link")) of \(path) \(lead) left out, and \(are) cleared"
  }

  /// What is gone, with its count: `500 links of Track.points`.
  package var amount: String {
    guard count != nil else { return thing }
    let unit =
      switch kind {
      case .entity: "object"
      case .relationship: "link"
      case .attribute, .index, .constraint, .trigger: "value"
      }
    return "\(share.counted(unit)) of \(path)"
  }
}

/// Everything in one version, and what becomes of it on the way to another.
public struct VersionAccount: Sendable, Hashable, Codable {
  /// The version before.
  public var source: String
  /// The version after.
  public var destination: String
  /// In the order of the model, each entity with what it has.
  public var lines: [AccountLine]

  /// A sentence for each kind of thing that did not stay as it was; empty where all did.
  public var notes: [String] {
    let pair = "\(source) to \(destination)"
    func list<Item>(_ lines: [Item], _ text: (Item) -> String) -> String? {
      guard !lines.isEmpty else { return nil }
      let rest = lines.count > 12 ? " and \((lines.count - 12).counted("other"))" : ""
      return lines.prefix(12).map(text).joined(separator: ", ") + rest
    }
    let gone =
      lines.filter(\.isGone).toldWithEntities.filter { $0.holdsData && !$0.isEmpty } + lines.compactMap(\.unfitLinks)
    return [
      list(gone.filter { $0.fate == .dropped }) { $0.amount + ($0.reason.map { " (\($0))" } ?? "") }
        .map { "\(pair) drops \($0)" },
      list(lines.filter { $0.kind == .entity }.compactMap(\.leaving)) { $0 }.map { "\(pair) leaves out \($0)" },
      list(gone.filter { $0.fate == .lost }, \.amount).map { "\(pair) loses \($0)" },
      list(gone.filter { $0.fate == .replaced }, \.amount).map { "\(pair) replaces \($0)" },
      list(lines.filter { $0.fate == .policy && !$0.isEmpty && $0.countedAs == nil }, \.amount)
        .map { "\(pair) leaves to policies, whose code may or may not read it: \($0)" },
      list(lines.filter { ($0.changed ?? 0) > 0 }) { "\(($0.changed ?? 0).grouped) of \($0.amount)" }.map {
        "\(pair) changes \($0)"
      },
      list(lines.filter { [.index, .constraint, .trigger].contains($0.kind) && $0.isGone }, \.thing).map {
        "\(pair) drops \($0)"
      },
    ].compactMap { $0 }
  }
}

extension [AccountLine] {
  /// The lines without those of properties whose entity has a line here: what goes with its entity is listed with it.
  package var toldWithEntities: [AccountLine] {
    let entities = Set(filter { $0.kind == .entity }.map(\.entity))
    return filter { $0.kind == .entity || !entities.contains($0.entity) }
  }
}
