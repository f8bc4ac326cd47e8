import CoreDataModel
import MappingModels

extension MappingCompiler {
  /// The mapping of a composite attribute as mappings of its elements; any other as it is. Elements with a mapping of
  /// their own are left to that.
  func leaves(_ property: PropertyMapping, _ draft: MappingDraft) -> [PropertyMapping] {
    guard let target = layout.model.attribute(property.name, of: draft.destination.name) else { return [property] }
    var sourceName = property.name
    switch property.valueExpression {
    case nil: break
    case .keyPath(.variable("source"), let path): sourceName = path.joined(separator: ".")
    case .some(let expression):
      guard target.type == .composite else { return [property] }
      // A value is one.
      return target.leaves.count == 1
        ? target.leaves.map { PropertyMapping(name: $0.path, valueExpression: expression) } : []
    }
    let source = drafts.step.source.attribute(sourceName, of: draft.source.name)
    guard target.type == .composite || source?.type == .composite else { return [property] }
    let own = Set(draft.mapping.attributeMappings.map(\.name))
    return target.leaves.compactMap { leaf in
      guard leaf.path == property.name || !own.contains(leaf.path) else { return nil }
      guard let origin = source.map({ target.origin(of: leaf.path, in: $0) }) ?? sourceName,
        draft.source.attributes[origin] != nil
      else { return nil }
      return PropertyMapping(name: leaf.path, valueExpression: .keyPath(operand: .variable("source"), path: [origin]))
    }
  }
}
