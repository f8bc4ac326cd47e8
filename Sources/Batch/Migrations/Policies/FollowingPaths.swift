import Streams

extension PathStep {
  /// Follows keys from an object or a collection. NULL stays NULL; of a set's members each value is there once.
  static func follow(_ start: ExpressionValue, _ steps: ArraySlice<PathStep>) throws -> ExpressionValue {
    guard let step = steps.first else { return start }
    if case .collect(let function, let rest) = step { return try function.collect(start, rest) }
    switch start {
    case .source(let object): return try follow(step.value(of: object), steps.dropFirst())
    case .list(let members):
      let values = try members.flatMap { try follow($0, [step]).members }
      return try follow(.distinct(values), steps.dropFirst())
    default: return .null
    }
  }

  private func value(of object: SourceObject) throws -> ExpressionValue {
    switch self {
    case .attribute(let attribute, let name): .value(try object.value(attribute, named: name))
    case .toOne(let relationship): try object.object(relationship).map { .source($0) } ?? .null
    case .toMany(let relationship, let name): .list(try object.objects(relationship, named: name).map { .source($0) })
    case .collect: .null
    }
  }
}

extension CollectionOperator {
  /// What the operator makes of a collection. NULL stays NULL.
  fileprivate func collect(_ collection: ExpressionValue, _ rest: [PathStep]) throws -> ExpressionValue {
    guard !collection.isNull else { return .null }
    let members = collection.members
    if self == .count { return .value(.integer(Int64(members.count))) }
    let values = try members.map { try PathStep.follow($0, rest[...]) }
    switch self {
    case .unionOfObjects: return .list(values.filter { !$0.isNull })
    case .distinctUnionOfObjects: return .distinct(values.filter { !$0.isNull })
    case .unionOfArrays, .unionOfSets: return .list(values.flatMap(\.members))
    case .distinctUnionOfArrays, .distinctUnionOfSets: return .distinct(values.flatMap(\.members))
    default: return .value(try Aggregate.value(rawValue, try values.map { try $0.single() }))
    }
  }
}
