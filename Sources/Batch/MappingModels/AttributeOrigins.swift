import CoreDataModel
import Streams

extension MappingComposition.Origin {
  /// Where an attribute comes from that a step takes from this entity's attribute of that path.
  func attribute(
    _ path: String, from old: AttributeDescription, to new: (path: String, attribute: AttributeDescription),
    _ null: Value?
  ) throws -> MappingComposition.AttributeOrigin {
    func converted(_ value: Value) throws -> Value {
      if let converted = new.attribute.type.converted(value, from: old.type) { return converted }
      throw MappingComposition.Obstacle(reason: "the value of \(path) does not fit the type of \(new.path)")
    }
    switch attributes[path] {
    case .source(let name, let types, let filled):
      // What was filled on the way is no NULL any longer.
      let passed = types.last == new.attribute.type ? types : types + [new.attribute.type]
      return .source(name, types: passed, null: try filled.map(converted) ?? null)
    case .computed(let expression, let types):
      guard null == nil else {
        throw MappingComposition.Obstacle(reason: "\(new.path) gets a default value for what \(path) lacks")
      }
      return .computed(expression, types: types.last == new.attribute.type ? types : types + [new.attribute.type])
    case .constant(let value):
      return .constant(try value == .null ? null ?? .null : converted(value))
    case nil: throw MappingComposition.Obstacle(reason: "\(path) is not known")
    }
  }
}

extension PropertyMapping {
  package init(_ name: String, _ origin: MappingComposition.AttributeOrigin) {
    switch origin {
    case .constant(let value): self.init(name: name, valueExpression: .constant(value))
    case .computed(let expression, let types):
      self.init(name: name, valueExpression: expression)
      passedTypes = types.dropLast()
    case .source(let source, let types, let null):
      self.init(name: name, valueExpression: .keyPath(operand: .variable("source"), path: [source]))
      passedTypes = Array(types.dropFirst().dropLast())
      valueForNull = null
    }
  }
}
