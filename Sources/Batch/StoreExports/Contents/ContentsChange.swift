/// What became of an object, or of a link, from one state of a store to a later one.
public struct ContentsChange: Sendable {
  /// What became of it.
  public enum Kind: String, Sendable, CaseIterable {
    /// It is in the later state alone.
    case added
    /// It is in the earlier state alone.
    case removed
    /// It is in both, and they differ.
    case changed
    /// It is in both, and in another place of an ordered list. An object that also differs is changed besides.
    case moved
  }

  /// A value of it.
  public struct Value: Sendable {
    /// The attribute or relationship, or the column without a model.
    public var name: String
    /// The earlier value as JSON; nil for what was added.
    public var old: String?
    /// The later value as JSON; nil for what was removed.
    public var new: String?

    /// Makes a value.
    public init(name: String, old: String?, new: String?) { (self.name, self.old, self.new) = (name, old, new) }
  }

  /// What became of it.
  public var kind: Kind
  /// The entity, or the join table.
  public var entity: String
  /// Z_PK in the earlier state; nil for what was added, and for links.
  public var oldKey: Int64?
  /// Z_PK in the later state; nil for what was removed, and for links.
  public var newKey: Int64?
  /// What differs; of an object that was added or removed all that is not NULL.
  public var values: [Value]
}

/// How many changes there are.
public struct ContentsCount: Sendable, Equatable, Encodable {
  /// Objects of the later state alone.
  public var added: UInt64 = 0
  /// Objects of the earlier state alone.
  public var removed: UInt64 = 0
  /// Objects with other values.
  public var changed: UInt64 = 0
  /// Objects in another place of an ordered list, which are counted as changed, saved or same, too.
  public var moved: UInt64 = 0
  /// Objects that were saved again, with the same values.
  public var saved: UInt64 = 0
  /// Objects without any difference.
  public var same: UInt64 = 0

  /// No objects.
  public init() {}

  /// Whether nothing differs.
  public var isEqual: Bool { differences == 0 }
  /// How many changes there are.
  public var differences: UInt64 { added + removed + changed + moved }

  /// Adds other objects.
  static func += (left: inout ContentsCount, right: ContentsCount) {
    left.added += right.added
    left.removed += right.removed
    left.changed += right.changed
    left.moved += right.moved
    left.saved += right.saved
    left.same += right.same
  }
}
