import CoreDataModel

/// Reads a property whose type is a model.
struct RelationshipReader {
  let property: SourceProperty
  let context: TypeResolver.Context
  let owner: Int
  let destination: Int
  let isToMany: Bool
  let isOptional: Bool

  /// `.unique`, among the options of either attribute.
  var isUnique: Bool {
    property.uses.contains { use in
      use.arguments.contains { if case .member(_, "unique") = $0.value { $0.label == nil } else { false } }
    }
  }

  func draft(destinationName: String) throws -> RelationshipDraft {
    var description = RelationshipDescription(
      name: property.name, destinationEntity: destinationName, inverseName: nil, maxCount: isToMany ? 0 : 1)
    description.isOptional = isOptional
    var draft = RelationshipDraft(
      name: property.name, owner: owner, destination: destination, place: context.place, description: description)
    for use in property.uses {
      if use.name == "Relationship" { draft.isPlain = false }
      for argument in use.arguments { try read(argument, of: use.name, into: &draft) }
    }
    return draft
  }

  private func read(_ argument: SourceArgument, of name: String, into draft: inout RelationshipDraft) throws {
    switch (name, argument.label, argument.value) {
    case (_, nil, .member(_, "unique")): break
    case (_, "originalName", .text(let name)): draft.description.renamingIdentifier = name
    case (_, "hashModifier", .text(let text)): draft.description.versionHashModifier = text
    case ("Relationship", "deleteRule", .member(_, let rule)): draft.description.deleteRule = try deleteRule(rule)
    case ("Relationship", "inverse", .keyPath(let root, let names)) where names.count == 1:
      draft.inverse = (root, names[0])
    case ("Relationship", "minimumModelCount", .integer(let count)):
      draft.description.minCount = Int32(clamping: count)
    case ("Relationship", "maximumModelCount", .integer(let count)):
      if isToMany { draft.description.maxCount = Int32(clamping: count) }
    case (_, .some, .none): break
    default: throw context.error("has an option of @\(name) that is not known, or goes only with attributes")
    }
  }

  private func deleteRule(_ name: String) throws -> RelationshipDescription.DeleteRule {
    switch name {
    case "nullify": return .nullify
    case "cascade": return .cascade
    case "deny": return .deny
    case "noAction": return .noAction
    default: throw context.error("has the delete rule .\(name), which is not known")
    }
  }
}
