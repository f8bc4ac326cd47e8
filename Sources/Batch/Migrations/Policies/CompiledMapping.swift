import CoreDataModel
import CoreDataStore
import MappingModels
import RunSupport
import Streams

/// The policy of an entity mapping, called where it lies: a copy of it would be made for every row.
final class PolicyCalls: Sendable {
  let policy: any EntityMigrationPolicy
  private let mapping: EntityMapping

  init(_ policy: any EntityMigrationPolicy, _ mapping: EntityMapping) {
    (self.policy, self.mapping) = (policy, mapping)
  }

  func createDestinationInstances(forSource source: SourceObject, manager: MigrationManager) throws {
    try policy.createDestinationInstances(forSource: source, in: mapping, manager: manager)
  }

  func createRelationships(forDestination destination: DestinationObject, manager: MigrationManager) throws {
    try policy.createRelationships(forDestination: destination, in: mapping, manager: manager)
  }
}

/// An entity mapping made ready for rows: for every column of the destination, where it comes from.
package final class CompiledMapping: @unchecked Sendable {
  // Sendable: nothing changes after init, neither what the pointer leads to; what notes cleared keys is the transforming
  // thread's alone.
  package let mapping: EntityMapping
  package let source: SourceEntity
  package let destination: DestinationEntity
  /// What is added to a source key.
  package let offset: Int64
  let policy: PolicyCalls?
  /// The same for rows, without counting references.
  let calls: Unmanaged<PolicyCalls>?
  let columns: [ColumnSource]
  /// What the policy declares that it looks for, and the entities that it waits for.
  let lookups: [Lookup]
  let reads: [String]
  /// Which entities the policy may write, by Z_ENT; nil for all.
  private let mayWrite: UnsafeMutableBufferPointer<Bool>?
  /// Which source objects it takes; nil for all.
  let filter: MappingFilter?
  /// Whether keys may be cleared, because filters left out what they lead to.
  let mayClear: Bool
  /// For each relationship of the source whose keys may be cleared: the columns that would have them.
  let clearedKeys: [[ClearedKey]]
  /// What is evaluated for every object, in the mapping's order.
  let expressions: [PropertyExpression]
  /// What the model demands of the mapping's objects; nil for nothing.
  private let rules: ObjectRules?
  /// For every column whose bytes stay as they are: the position in the source's record, else -1. Most columns are
  /// such.
  private let borrowed: UnsafeMutablePointer<Int>
  /// Columns with the same value in every row, as records hold them.
  private let constants: ColumnValues
  /// The recipe for rows whose object is not changed, where every column has a simple one. The transforming thread's
  /// alone.
  let recipe: RecordRecipe?
  /// The same for rows, without counting references.
  let recipeForRows: Unmanaged<RecordRecipe>?

  init(
    mapping: EntityMapping, source: SourceEntity, destination: DestinationEntity, offset: Int64,
    policy: (any EntityMigrationPolicy)?, mayWrite: [Bool]?, columns: [ColumnSource], filter: MappingFilter?,
    expressions: [PropertyExpression], rules: ObjectRules?
  ) {
    self.mapping = mapping
    self.source = source
    self.destination = destination
    self.offset = offset
    (lookups, reads) = (policy?.lookups(for: mapping) ?? [], policy?.reads(for: mapping) ?? [])
    self.policy = policy.map { PolicyCalls($0, mapping) }
    calls = self.policy.map { Unmanaged.passUnretained($0) }
    self.mayWrite = mayWrite.map { flags in
      let copy = UnsafeMutableBufferPointer<Bool>.allocate(capacity: flags.count)
      _ = copy.initialize(from: flags)
      return copy
    }
    self.columns = columns
    clearedKeys = Self.clearedKeys(columns)
    mayClear = !clearedKeys.isEmpty
    (self.filter, self.expressions, self.rules) = (filter, expressions, rules)
    borrowed = .allocate(capacity: columns.count)
    var constants = ColumnValues(count: columns.count)
    for (column, source) in columns.enumerated() {
      if case .borrow(let position, _) = source { borrowed[column] = position } else { borrowed[column] = -1 }
      if case .value(let value) = source { constants.set(column, value) }
    }
    self.constants = constants
    let recipe = Self.recipe(columns, rules)
    self.recipe = recipe
    recipeForRows = recipe.map { Unmanaged.passUnretained($0) }
  }

  deinit {
    borrowed.deallocate()
    mayWrite?.deallocate()
  }

  /// A key that goes to several columns is cleared if none of them has it.
  private static func clearedKeys(_ columns: [ColumnSource]) -> [[ClearedKey]] {
    var (found, kept) = ([Int: [ClearedKey]](), Set<Int>())
    for column in columns {
      switch column {
      case .carried(let position, let targets, .key):
        if let cleared = targets.cleared { found[position, default: []].append(cleared) }
      case .borrow(let position, _), .key(let position, _): kept.insert(position)
      default: break
      }
    }
    return found.filter { !kept.contains($0.key) }.sorted { $0.key < $1.key }.map(\.value)
  }

  private static func recipe(_ columns: [ColumnSource], _ rules: ObjectRules?) -> RecordRecipe? {
    var pieces: [RecordRecipe.Piece] = [.constant(.null)]
    for column in columns.dropFirst() {
      guard let piece = column.piece else { return nil }
      pieces.append(piece)
    }
    return RecordRecipe(pieces, rules)
  }

  /// Whether its filter alone says which objects it takes: rules take all others, and policies in Swift as they like.
  var isDecidedByFilter: Bool { policy == nil || mapping.rules != nil }

  /// Whether the policy may write objects of an entity, by Z_ENT.
  func mayWrite(_ number: Int) -> Bool { mayWrite.map { $0[number] } ?? true }

  /// Whether rows need no object, as far as the mapping is concerned.
  var isPlain: Bool { policy == nil && expressions.isEmpty }

  /// Whether anything is evaluated for every object.
  var hasExpressions: Bool { !expressions.isEmpty }

  /// Migrates a row without policy and without objects of its own. False when the row needs them.
  func encode(_ row: RecordDecoder, rowid: Int64, to encoder: RecordEncoder) throws -> Bool {
    guard isPlain else { return false }
    encoder.reset()
    encoder.appendNull()
    for column in 1..<columns.count { try append(column, row: row, rowid: rowid, to: encoder) }
    try rules?.check(by: mapping.name, isNull: { try isNull($0, row: row, rowid: rowid) }) {
      try value($0, row: row, rowid: rowid)
    }
    return true
  }

  /// Whether a column of a row has no value.
  func isNull(_ column: Int, row: RecordDecoder, rowid: Int64) throws -> Bool {
    let position = borrowed[column]
    if position >= 0, position < row.columnCount { return row.type(position) == SerialType.null }
    return try value(column, row: row, rowid: rowid) == .null
  }

  /// Appends one column of a row.
  func append(_ column: Int, row: RecordDecoder, rowid: Int64, to encoder: RecordEncoder) throws {
    let position = borrowed[column]
    if position >= 0, position < row.columnCount {
      return encoder.append(type: row.type(position), body: row.body(position))
    }
    if constants.append(column, to: encoder) { return }
    switch columns[column] {
    case .borrow(_, let missing): encoder.append(missing)
    case .filled(.borrow(let position, _), _) where position < row.columnCount && row.type(position) != 0:
      encoder.append(type: row.type(position), body: row.body(position))
    case .key(let position, let map):
      if let key = row.integer(position), let target = try map.target(of: key, row) {
        encoder.append(key &+ target.offset)
      } else {
        encoder.appendNull()
      }
    default: encoder.append(try value(column, row: row, rowid: rowid))
    }
  }

  private func unfit(_ column: Int, _ types: [AttributeType], key: Int64) -> BatchError {
    let name = destination.attributes.names.first { destination.attributes[$0]?.position == column } ?? "an attribute"
    let others = types.dropFirst().map { "\($0)" }.joined(separator: " and then ")
    return BatchError(
      .policyFailed, "the value of \(name), of type \(types[0]), does not fit the type \(others)",
      hint: "Map the attribute with a policy that decides what becomes of it", entity: destination.name, key: key)
  }

  /// The value of one column of a row, as stored.
  func value(_ column: Int, row: RecordDecoder, rowid: Int64) throws -> Value {
    try value(columns[column], of: column, row: row, rowid: rowid)
  }

  private func value(_ source: ColumnSource, of column: Int, row: RecordDecoder, rowid: Int64) throws -> Value {
    switch source {
    case .value(let value): return value
    case .borrow(let position, let missing): return try position < row.columnCount ? row.value(position) : missing
    case .convert(let position, let missing, let types):
      let value = try position < row.columnCount ? row.value(position) : missing
      if let converted = types.converted(value) { return converted }
      throw unfit(column, types, key: rowid)
    case .filled(let source, let null):
      let value = try value(source, of: column, row: row, rowid: rowid)
      return value == .null ? null : value
    case .key(let position, let map):
      guard let key = row.integer(position), let target = try map.target(of: key, row) else { return .null }
      return .integer(key &+ target.offset)
    case .keyEntity(let position, let map):
      guard let key = row.integer(position), let target = try map.target(of: key, row) else { return .null }
      return .integer(Int64(target.number))
    case .order(let position): return row.integer(position) == nil ? .null : .integer(rowid &* 1024)
    case .carried(let position, let targets, let part):
      return try carried(position, targets: targets, part: part, row: row, rowid: rowid)
    case .expression: return .null
    case .rule(let rule): return try rule.value(row, key: rowid)
    case .unfit(let position, let message):
      guard position < row.columnCount, try row.value(position) != .null else { return .null }
      throw BatchError(
        .policyFailed, "\(message), and the policy does not set it", hint: "Set it in the policy",
        entity: destination.name, key: rowid)
    }
  }

  private func carried(
    _ position: Int, targets: CarriedTargets, part: CarriedPart, row: RecordDecoder, rowid: Int64
  ) throws
    -> Value
  {
    guard let key = row.integer(position) else { return .null }
    guard let target = try targets.target(key) else {
      targets.cleared?.row = rowid
      return .null
    }
    switch part {
    case .key: return .integer(key &+ target.offset)
    case .entity: return .integer(Int64(target.number))
    case .order(let place): return try place.map { try row.value($0) } ?? .integer(rowid &* 1024)
    }
  }

  /// Whether the mapping takes this object.
  func takes(_ source: SourceObject) throws -> Bool { try filter?.takes(source) ?? true }
}

extension RecordRecipe {
  /// A recipe that makes no records which would break rules: what may break one is left to the slower way, which says
  /// so.
  convenience init(_ pieces: [Piece], _ rules: ObjectRules?) {
    let appends = rules?.allowsRecipes { column in
      if case .constant(let value) = pieces[column] { value } else { nil }
    }
    self.init(pieces, required: rules?.required ?? [], appends: appends ?? true)
  }
}
