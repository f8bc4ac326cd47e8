import CoreDataModel
import Migrations
import Streams

/// Whether a predicate holds for an object. Throws ``ExpressionDamage`` for what is not understood.
struct PredicateEvaluator {
  /// What an expression gives.
  indirect enum Operand {
    case value(Value)
    case object(NSManagedObject)
    case list([Operand])
  }

  private let arguments: [Any?]
  private let predicate: CoreDataModel.Predicate
  private var bound: [String: Operand] = [:]

  init(_ predicate: FormatPredicate) throws {
    (arguments, self.predicate) = (predicate.arguments, try predicate.parsed.get())
  }

  func holds(_ object: Any?) throws -> Bool { try holds(predicate, operand(object)) }

  private func holds(_ predicate: CoreDataModel.Predicate, _ object: Operand) throws -> Bool {
    switch predicate {
    case .truth(let value): return value
    case .compound(.not, let parts): return try !holds(parts[0], object)
    case .compound(.and, let parts): return try parts.allSatisfy { try holds($0, object) }
    case .compound(.or, let parts): return try parts.contains { try holds($0, object) }
    case .compare(let left, let operation, let right):
      let (left, right) = (try value(left, object), try value(right, object))
      func holds(_ left: Operand) throws -> Bool {
        try Comparing.holds(operation.comparison, left: left.plain, right: right.plain, options: operation.options)
      }
      switch operation.modifier {
      case .direct: return try holds(left)
      case .any: return try left.members.contains(where: holds)
      case .all: return try left.members.allSatisfy(holds)
      }
    }
  }

  /// What an expression gives for an object.
  func value(_ expression: CoreDataModel.Expression, _ object: Operand) throws -> Operand {
    switch expression {
    case .constant(let value): return .value(value)
    case .decimal(let digits): return .value(.real(Double(digits) ?? 0))
    case .date(let seconds): return .value(.real(seconds))
    case .evaluatedObject: return object
    case .variable(let name): return try variable(name)
    case .keyPath(let operand, let path): return try follow(path[...], from: value(operand, object))
    case .aggregate(let members): return .list(try members.map { try value($0, object) })
    case .subquery(let collection, let name, let predicate):
      return .list(
        try value(collection, object).members.filter { member in
          var inner = self
          inner.bound[name] = member
          return try inner.holds(predicate, object)
        })
    case .function, .conditional, .set, .fetch:
      throw ExpressionDamage("calls a function, which fetches of a migration do not know: \(expression)")
    }
  }

  private func variable(_ name: String) throws -> Operand {
    if let found = bound[name] { return found }
    guard name.hasPrefix(PredicateTemplate.variable), let place = Int(name.dropFirst(PredicateTemplate.variable.count))
    else { throw ExpressionDamage("has $\(name), which is nothing here") }
    return try operand(arguments[place])
  }

  /// An argument, or what KVC gives.
  func operand(_ object: Any?) throws -> Operand {
    switch object {
    case let object as NSManagedObject: return .object(object)
    case let identifier as NSManagedObjectID: return .object(identifier.session.window(identifier))
    case let members as NSSet: return .list(try members.allObjects.map { try operand($0) })
    case let members as NSOrderedSet: return .list(try members.array.map { try operand($0) })
    case let members as NSArray: return .list(try members.map { try operand($0) })
    default:
      guard let value = ValueBridge.any(object) else {
        throw ExpressionDamage("has a \(object.map { "\(type(of: $0))" } ?? "nil"), which it cannot compare")
      }
      return .value(value)
    }
  }

  private func follow(_ path: ArraySlice<String>, from start: Operand) throws -> Operand {
    guard let key = path.first else { return start }
    let rest = path.dropFirst()
    switch start {
    case .value: return .value(.null)
    case .list(let members):
      if key == "@count" { return .value(.integer(Int64(members.count))) }
      return .list(try members.flatMap { try follow(path, from: $0).members })
    case .object(let object): return try follow(rest, from: operand(key == "self" ? object : object.value(forKey: key)))
    }
  }
}

extension PredicateEvaluator.Operand {
  /// The members of a collection; of anything else itself, of NULL none.
  var members: [Self] {
    switch self {
    case .list(let members): members
    case .value(.null): []
    default: [self]
    }
  }

  /// The same for comparisons: an object is what it is known by.
  var plain: ExpressionValue {
    switch self {
    case .value(let value): .value(value)
    case .object(let object): .value(.text(object.objectID.uriRepresentation().absoluteString))
    case .list(let members): .list(members.map(\.plain))
    }
  }
}
