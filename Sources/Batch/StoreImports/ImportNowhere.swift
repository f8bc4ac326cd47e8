import CoreDataStore
import RunSupport
import StoreVerification

/// A relationship that leads to an object that is not imported, or is not the one that the relationship means.
struct ImportNowhere: Error {
  /// Whose relationship it is; the key is nil where the line is known.
  private(set) var entity: String
  private var key: Int64?
  private var relationship: String
  private var destination: String
  /// The object that it leads to.
  private var target: ImportWatch.Place
  private(set) var line: Int?
  /// What is wrong, if that is not that there is no such object.
  private var fault: String?
  /// Whose line is looked for, and the other end of a link of a join table, which may be the one that says it.
  private var owner: ImportWatch.Place?
  private var other: (entity: String, relationship: String, destination: String)?
  private var leftOut: Int?
  private var count: UInt64 = 1
  /// Whether the store has a place for it all the same.
  private var isKept: Bool

  /// One that a line says, of which no more has to be looked for.
  init(
    entity: String, relationship: String, destination: String, target: ImportWatch.Place, isKept: Bool, line: Int
  ) {
    (self.entity, self.relationship, self.destination) = (entity, relationship, destination)
    (self.target, self.isKept, self.line) = (target, isKept, line)
  }

  /// What the verification of the store found; nil if that is something else.
  init?(_ violation: Violation, _ plan: ImportPlan) {
    guard [.dangling, .wrongEntity, .helperNumber, .oneSided].contains(violation.kind),
      let entity = violation.entity, let property = violation.property, let example = violation.examples.first,
      let key = example.key, let target = example.destination,
      let relationship = plan.entities[entity]?.relationships[property],
      let table = plan.layout.tablePosition(ofEntity: entity),
      let place = plan.layout.tablePosition(ofEntity: relationship.destination)
    else { return nil }
    switch relationship.storage {
    case .ownKey: break
    case .join(let join, true):
      other = (relationship.destination, plan.layout.joinTables[join].inverse.name, entity)
    case .join, .inverseKey, .ownerKey: return nil
    }
    (self.entity, self.key, self.relationship, count) = (entity, key, property, violation.count)
    (destination, owner) = (relationship.destination, .init(table: table, key: key))
    self.target = .init(table: place, key: target)
    isKept = violation.isDangling(plan)
    switch violation.kind {
    case .dangling: fault = nil
    case .oneSided: fault = "\(violation.message) than \(target)"
    default: fault = "the object with the key \(target) is of another entity than the line says, or the relationship"
    }
  }
}

extension ImportNowhere {
  /// The objects whose lines are to be looked for.
  var places: [ImportWatch.Place] { [owner, target].compactMap { $0 } }

  /// Takes what was found of them.
  mutating func take(_ watch: ImportWatch) {
    if let owner {
      line = watch.lines[owner]
      if line == nil, let other, let end = watch.lines[target] {
        // It is the object at the other end whose list says it.
        (entity, relationship, destination) = other
        (key, target, line) = (target.key, owner, end)
      }
    }
    leftOut = watch.leftOut[target]
  }

  /// The error; `rejects` lines were left out. `allowed` is the command that keeps keys that lead to no object.
  func error(in lines: ImportLines, rejects: UInt64, allowed: AdvisedCommand?) -> BatchError {
    let who = line == nil ? "\(entity)\(key.map { " \($0)" } ?? "")" : entity
    var text = "\(who), relationship \(relationship): "
    text += fault ?? "there is no \(destination) with the key \(target.key)"
    var hint = "Correct the file: a key must be that of an object that is imported, too"
    if fault == nil, let leftOut {
      let place = lines.text(leftOut, beside: line ?? -1)
      text += ", which was left out with \(place)"
      hint = "Correct \(place), or take the key out of \(line.map { lines.text($0, beside: $0) } ?? "the object")"
    } else if fault == nil, rejects > 0 {
      text += "; \(rejects.counted("line")) \(rejects.verb("was", "were")) left out"
    }
    var next: [String] = []
    if let allowed, isKept, leftOut == nil {
      hint += ". \(allowed) keeps such keys"
      next = [allowed.line]
    }
    if count > 1 { text += " (one of \(count.grouped) such keys)" }
    var error = lines.refusal(text, at: line, hint: hint)
    error.next = next
    return error
  }
}

extension Violation {
  /// Whether a key that leads to no object has its place: in the row of a to-one, or in a join table.
  func isDangling(_ plan: ImportPlan) -> Bool {
    guard kind == .dangling, let entity, let property else { return false }
    switch plan.entities[entity]?.relationships[property]?.storage {
    case .ownKey, .join: return true
    case .inverseKey, .ownerKey, nil: return false
    }
  }
}
