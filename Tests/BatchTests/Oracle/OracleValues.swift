import Foundation
import Streams

@testable import CoreDataModel

/// Random values of every type, and what becomes of numbers that change their type (E.2).
enum OracleValues {
  static let numbers: [AttributeType] = [.integer16, .integer32, .integer64, .decimal, .double, .float, .boolean]

  /// A value for a column; `isWild` ones lie at the borders of their type.
  static func random(_ attribute: AttributeDescription, isWild: Bool, _ random: inout SeededRandom) -> Value {
    if random.flag(attribute.isOptional ? 4 : 40) { return .null }
    let isEdge = isWild && random.flag(6)
    let small = Int64.random(in: -100...100, using: &random)
    switch attribute.type {
    case .integer16: return .integer(isEdge ? random.flag(2) ? 32767 : -32768 : small)
    case .integer32: return .integer(isEdge ? random.flag(2) ? 2_147_483_647 : -2_147_483_648 : small)
    case .integer64: return .integer(isEdge ? random.flag(2) ? .max : .min : small)
    case .boolean: return .integer(small & 1)
    case .double, .decimal, .float, .date: return .real(real(attribute.type, isEdge: isEdge, small, &random))
    case .string, .uri: return .text(text(isEdge: isEdge, &random))
    case .uuid: return .blob(bytes(16, &random))
    default:
      let count =
        isEdge ? [0, 5000, 40_000].randomElement(using: &random) ?? 0 : Int.random(in: 0...60, using: &random)
      // The mark of bytes that lie in the row, not in a file beside the store.
      return .blob((attribute.allowsExternalBinaryDataStorage ? [1] : []) + bytes(count, &random))
    }
  }

  private static func real(_ type: AttributeType, isEdge: Bool, _ small: Int64, _ random: inout SeededRandom) -> Double
  {
    if isEdge {
      let edges: [Double] = [
        9_007_199_254_740_992, 140_737_488_355_328, 140_737_488_355_327, -1e300, .leastNonzeroMagnitude, 0.1, 9.3e18,
        -2.5,
        .greatestFiniteMagnitude, .infinity,
      ]
      let edge = edges.randomElement(using: &random) ?? 0
      return type == .float ? Double(Float(edge)) : edge
    }
    return random.flag(2) ? Double(small) : Double(small) + 0.25
  }

  private static func text(isEdge: Bool, _ random: inout SeededRandom) -> String {
    if isEdge {
      let long = String(repeating: "häß€🐎", count: Int.random(in: 0...3000, using: &random))
      return ["", "'\"%_;--\n\t", "e\u{301} \u{1F469}\u{200D}\u{1F680}", "12", "1.0", long].randomElement(
        using: &random) ?? ""
    }
    // Few, so that look-ups find something.
    return "text \(Int.random(in: 0...9, using: &random))"
  }

  private static func bytes(_ count: Int, _ random: inout SeededRandom) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  /// A number in another type; nil when it does not fit.
  static func converted(_ value: Value, to type: AttributeType) -> Value? {
    switch (value, type) {
    case (.integer(let number), .boolean): return .integer(number == 0 ? 0 : 1)
    case (.real(let number), .boolean): return .integer(number == 0 ? 0 : 1)
    case (.integer(let number), .integer16): return Int16(exactly: number) == nil ? nil : value
    case (.integer(let number), .integer32): return Int32(exactly: number) == nil ? nil : value
    case (.integer(let number), .float): return .real(Double(Float(Double(number))))
    case (.integer(let number), .double), (.integer(let number), .decimal): return .real(Double(number))
    case (.real(let number), .integer16), (.real(let number), .integer32), (.real(let number), .integer64):
      guard number.isFinite, let whole = Int64(exactly: number.rounded(.towardZero)) else { return nil }
      return converted(.integer(whole), to: type)
    case (.real(let number), .float): return .real(Double(Float(number)))
    default: return value
    }
  }
}

/// Fills a model with objects and links between them.
struct OracleData {
  var random: SeededRandom
  private(set) var graph: OracleGraph

  init(_ model: ManagedObjectModel, seed: UInt64, scale: Int, isWild: Bool) {
    (random, graph) = (SeededRandom(seed), OracleGraph(model: model))
    for root in model.entities where root.superentity == nil { addObjects(root.name, scale, isWild) }
    for (entity, link) in model.declaredRelationships { connect(entity, link) }
  }

  /// Rows of a table: entities mixed, keys with gaps, sometimes far apart.
  private mutating func addObjects(_ root: String, _ scale: Int, _ isWild: Bool) {
    let model = graph.model
    let concrete = model.entities.filter { !$0.isAbstract && model.isKind($0.name, of: root) }.map(\.name)
    var kinds = concrete.flatMap {
      Array(repeating: $0, count: [0, 1, 4, 12, 30, scale].randomElement(using: &random) ?? 0)
    }
    kinds.shuffle(using: &random)
    var key: Int64 = 0
    for entity in kinds {
      key += random.flag(5) ? Int64.random(in: 1...(random.flag(20) ? 1 << 34 : 40), using: &random) : 1
      var object = OracleGraph.Object()
      for attribute in model.attributes(of: entity) where !attribute.isTransient {
        object.values[attribute.name] = OracleValues.random(attribute, isWild: isWild, &random)
      }
      graph.objects[OracleKey(entity: entity, key: key)] = object
    }
    graph.largestKeys[root] = key + Int64.random(in: 0...2, using: &random)
  }

  private mutating func connect(_ entity: String, _ link: RelationshipDescription) {
    let (owners, targets) = (graph.objects(of: entity), graph.objects(of: link.destinationEntity))
    guard !targets.isEmpty else { return }
    guard let inverse = graph.model.inverse(of: link) else { return connectWithoutInverse(link, owners, targets) }
    // Once a pair.
    guard (entity, link.name) <= (inverse.entity, inverse.link.name) else { return }
    switch (link.isToMany, inverse.link.isToMany) {
    case (false, false): connectOneToOne(link, owners, targets)
    case (false, true):
      for owner in owners where !random.flag(4) { join(owner, link, targets.randomElement(using: &random)) }
    case (true, false):
      for target in targets where !random.flag(4) { join(owners.randomElement(using: &random), link, target) }
    case (true, true):
      for owner in owners {
        for _ in 0..<Int.random(in: 0...3, using: &random) { join(owner, link, targets.randomElement(using: &random)) }
      }
    }
    for (side, keys) in [(link, owners), (inverse.link, targets)] where side.isToMany {
      for key in keys { graph.objects[key]?.links[side.name]?.shuffle(using: &random) }
    }
  }

  private mutating func join(_ owner: OracleKey?, _ link: RelationshipDescription, _ target: OracleKey?) {
    guard let owner, let target, let inverse = link.inverseName else { return }
    // No object is its own friend, and none is there twice.
    guard !(inverse == link.name && owner == target), graph.objects[owner]?.links[link.name]?.contains(target) != true
    else { return }
    graph.add(target, to: link.name, of: owner)
    graph.add(owner, to: inverse, of: target)
  }

  private mutating func connectOneToOne(_ link: RelationshipDescription, _ owners: [OracleKey], _ targets: [OracleKey])
  {
    let (left, right) = (owners.shuffled(using: &random), targets.shuffled(using: &random))
    guard link.inverseName == link.name else {
      for (owner, target) in zip(left, right) where !random.flag(4) { join(owner, link, target) }
      return
    }
    for place in stride(from: 0, to: left.count - 1, by: 2) { join(left[place], link, left[place + 1]) }
  }

  private mutating func connectWithoutInverse(
    _ link: RelationshipDescription, _ owners: [OracleKey], _ targets: [OracleKey]
  ) {
    if link.isToMany {
      // The key stands in the target's row, so each has one owner.
      for target in targets.shuffled(using: &random) where !random.flag(3) {
        if let owner = owners.randomElement(using: &random) { graph.add(target, to: link.name, of: owner) }
      }
    } else {
      for owner in owners where !random.flag(4) {
        if let target = targets.randomElement(using: &random) { graph.add(target, to: link.name, of: owner) }
      }
    }
  }
}
