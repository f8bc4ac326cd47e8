import MappingModels

extension RuleValue {
  /// What the rule does, in words.
  var words: String {
    switch self {
    case .expression(let expression): "\(expression)"
    case .date(let value, _): "date of (\(value.words))"
    case .moment(let value, let scale): "date of (\(value.words)), in \(scale.words)"
    case .number(let value, let scale): "(\(value.words)) as a number in \(scale.words)"
    case .formatted(let value, let pattern): "text of (\(value.words)), by the format \(pattern.text)"
    case .when(let condition, let value): "if \(condition): \(value.words)"
    case .distance: "a distance in metres"
    case .fold(let fold): "\(fold.kind.words) of (\(fold.value.words)) over \(fold.over)"
    case .became(let target, let attribute): "\(attribute) of what becomes of \(target.words)"
    case .uuid(.random): "a random UUID, of this run"
    case .uuid(.repeatable): "a repeatable UUID, of store, entity and key"
    case .cast(let value, let type): "cast of (\(value.words)) to \(type.rawValue)"
    case .sum(let values): "sum of (\(values.map(\.words).joined(separator: ", ")))"
    case .join(let values, _): "join of (\(values.map(\.words).joined(separator: ", ")))"
    case .split(let value, _, let part): "part \(part) of (\(value.words))"
    case .prefix(let value, let length): "the first \(length) characters of (\(value.words))"
    case .lookup(let value, let table): "(\(value.words)) looked up in \(table.name)"
    case .perRow(.uuid): "a UUID of its own"
    case .perRow(.date): "a moment of its own"
    case .choice(let condition, let yes, let no): "if \(condition) then (\(yes.words)) else (\(no.words))"
    case .undecided(let reason): "to be decided: \(reason)"
    case .fallback(let value, let other): "(\(value.words)), else (\(other.words))"
    }
  }
}

extension DateScale {
  /// Unit and epoch, in words.
  fileprivate var words: String {
    let since = epoch == 0 ? "2001" : epoch == DateScale.epoch("unix") ? "1970" : "\(epoch) s after 2001"
    return "\(unit.rawValue) since \(since)"
  }
}

extension RuleFold.Kind {
  /// What is made, in words.
  fileprivate var words: String {
    switch self {
    case .first: "first"
    case .last: "last"
    case .sum: "sum"
    case .join: "join"
    }
  }
}

extension RuleTarget {
  /// Which objects, as mapping files write them.
  fileprivate var words: String {
    switch self {
    case .destination: "$destination"
    case .item: "$item"
    case .related(let name, let ofItem): ofItem ? "$item.\(name)" : "$source.\(name)"
    case .found(let entity, let key, _): "the \(entity) found by \(key.name)"
    case .made(let name): "$\(name)"
    case .when(let condition, let target): "\(target.words) if \(condition)"
    case .one(let target, let takesLast): "the \(takesLast ? "last" : "first") of \(target.words)"
    case .undecided(let reason): "to be decided: \(reason)"
    }
  }
}
