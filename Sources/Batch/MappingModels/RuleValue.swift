import CoreDataModel

/// A value that a rule computes. NULL stays NULL in all of them.
public indirect enum RuleValue: Sendable, Equatable {
  /// An expression of `$source` and `$item`.
  case expression(Expression)
  /// A text as a date, by a Unicode date pattern and a zone of fixed offset in seconds; otherwise the row is an error.
  case date(RuleValue, DatePattern)
  /// A value of another type; a text that is no number is an error.
  case cast(RuleValue, RuleType)
  /// Numbers added up; a text that is no number is an error.
  case sum([RuleValue])
  /// Texts one after the other; NULL is left out.
  case join([RuleValue], separator: String)
  /// A part of a text, from 1, or from the end with -1; NULL where there are fewer.
  case split(RuleValue, separator: String, part: Int)
  /// The first characters of a text.
  case prefix(RuleValue, Int)
  /// What a table has for a text or a number; NULL where it has nothing.
  case lookup(RuleValue, MappingTable)
  /// One value or another, by a predicate of the source object.
  case choice(condition: Predicate, RuleValue, else: RuleValue)
  /// A value of its own for each row.
  case perRow(PerRowKind)
  /// The second value where the first is NULL.
  case fallback(RuleValue, RuleValue)
  /// A new UUID.
  case uuid(NewUUID)
  /// A number as a date; what is no number is an error.
  case moment(RuleValue, DateScale)
  /// A date as a number, rounded to a whole one unless the attribute takes fractions.
  case number(RuleValue, DateScale)
  /// A date as a text.
  case formatted(RuleValue, DatePattern)
  /// The value, if a predicate of the source object holds; else the attribute is as if it was not named. A whole
  /// attribute's alone.
  case when(Predicate, RuleValue)
  /// Metres between two places on the Earth: latitude and longitude of one and of the other, in degrees.
  case distance([RuleValue])
  /// One value of many.
  case fold(RuleFold)
  /// An attribute that a destination object has: what became of a source object, or what an earlier rule made.
  case became(RuleTarget, attribute: String)
  /// Nothing yet, and why: the author has to decide. Checks take it, and no migration does. A whole attribute's alone.
  case undecided(String)

  /// Why the value is still to be decided; nil if it is not.
  package var undecided: String? { if case .undecided(let reason) = self { reason } else { nil } }
}

/// One value of the objects of a relationship, or of the elements of an array, in their order.
public struct RuleFold: Sendable, Equatable {
  /// What is made of them.
  public enum Kind: Sendable, Equatable {
    case first, last, sum
    case join(separator: String)
  }
  /// The source's relationship, or its array.
  public var over: String
  /// What is made of them.
  public var kind: Kind
  /// The value of each, of `$item`; of `$previous` too, which the first one lacks: it is then left out.
  public var value: RuleValue
}

/// Where a new UUID comes from.
public enum NewUUID: Sendable, Equatable {
  /// Version 5, of the store's UUID, the entity and the key, and perhaps a name: the same in each run.
  case repeatable(name: String?)
  /// The form of random ones, of a random number of the run, the store and the key: another one in each run, and the
  /// same when a run is resumed.
  case random
}

/// What a value is cast to.
public enum RuleType: String, Sendable, CaseIterable {
  case text, integer, double, boolean, uuid, uri
}

extension RuleValue {
  /// The values that it is made of.
  package var parts: [RuleValue] {
    switch self {
    case .expression, .perRow, .uuid, .became, .undecided: []
    case .when(_, let value): [value]
    case .fold(let fold): [fold.value]
    case .date(let value, _), .cast(let value, _), .split(let value, _, _), .prefix(let value, _),
      .lookup(let value, _), .moment(let value, _), .number(let value, _), .formatted(let value, _):
      [value]
    case .sum(let values), .join(let values, _), .distance(let values): values
    case .choice(_, let value, let other), .fallback(let value, let other): [value, other]
    }
  }

  /// Whether an expression in it has a variable.
  package func uses(_ variable: String) -> Bool {
    switch self {
    case .expression(let expression): expression.uses(variable)
    case .choice(let condition, let value, let other):
      condition.uses(variable) || value.uses(variable) || other.uses(variable)
    default: parts.contains { $0.uses(variable) }
    }
  }

  /// Whether it is given under a condition alone.
  package var isConditional: Bool { if case .when = self { true } else { false } }

  /// What is, or may be, in it that is new in each row: its kind, and how a mapping file says it.
  package var newInEachRow: [(kind: PerRowKind, words: String)] {
    switch self {
    case .perRow(let kind): [(kind, "\(kind): per-row")]
    case .uuid(.repeatable): [(.uuid, "uuid: repeatable")]
    case .uuid(.random): [(.uuid, "uuid: random")]
    default: parts.flatMap(\.newInEachRow)
    }
  }
}
