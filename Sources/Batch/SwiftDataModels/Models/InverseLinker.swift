/// Gives relationships their inverses: those that sources name, and those that SwiftData finds itself.
struct InverseLinker {
  private struct Key: Hashable {
    let owner: Int
    let name: String
  }

  let index: DeclarationIndex
  private var drafts: [RelationshipDraft]
  private var positions: [Key: Int] = [:]
  private var inverses: [Int: Int] = [:]

  /// The drafts, each with its inverse.
  static func linked(_ drafts: [RelationshipDraft], _ index: DeclarationIndex) throws -> [RelationshipDraft] {
    var linker = InverseLinker(index: index, drafts: drafts)
    for position in drafts.indices { try linker.linkNamed(position) }
    for position in drafts.indices { try linker.linkFound(position) }
    for (position, inverse) in linker.inverses {
      linker.drafts[position].description.inverseName = drafts[inverse].name
    }
    return linker.drafts
  }

  private init(index: DeclarationIndex, drafts: [RelationshipDraft]) {
    (self.index, self.drafts) = (index, drafts)
    for (position, draft) in drafts.enumerated() { positions[Key(owner: draft.owner, name: draft.name)] = position }
  }

  /// `inverse: \Y.b` on one side gives both sides their inverse.
  private mutating func linkNamed(_ position: Int) throws {
    let draft = drafts[position]
    guard let (root, name) = draft.inverse else { return }
    let what = "\(index.types[draft.owner].declaration.name).\(draft.name)"
    if !root.isEmpty {
      let found = try index.find(root, in: draft.owner, at: draft.place).flatMap {
        try index.followed($0, at: draft.place)
      }
      guard found == draft.destination else {
        throw draft.place.error(
          "\(what) leads to \(draft.description.destinationEntity), but its inverse is one of \(root.joined(separator: "."))"
        )
      }
    }
    guard let inverse = positions[Key(owner: draft.destination, name: name)] else {
      throw draft.place.error("the inverse of \(what), \(draft.description.destinationEntity).\(name), does not exist")
    }
    guard drafts[inverse].destination == draft.owner else {
      throw draft.place.error(
        "the inverse of \(what), \(draft.description.destinationEntity).\(name), leads to \(drafts[inverse].description.destinationEntity)"
      )
    }
    for (one, other) in [(position, inverse), (inverse, position)] {
      guard inverses[one, default: other] == other else {
        throw drafts[one].place.error("\(drafts[one].name) is the inverse of two relationships")
      }
      inverses[one] = other
    }
  }

  /// Without `@Relationship` on either side, the only pair between two classes.
  private mutating func linkFound(_ position: Int) throws {
    let draft = drafts[position]
    guard draft.isPlain, inverses[position] == nil else { return }
    func plain(_ owner: Int, to destination: Int) -> [Int] {
      drafts.indices.filter {
        drafts[$0].isPlain && drafts[$0].owner == owner && drafts[$0].destination == destination && inverses[$0] == nil
      }
    }
    let (own, back) = (plain(draft.owner, to: draft.destination), plain(draft.destination, to: draft.owner))
    guard !back.isEmpty else { return }
    guard own.count == 1, back.count == 1, draft.owner != draft.destination else {
      let names = Set(own + back).subtracting([position]).map {
        "\(index.types[drafts[$0].owner].declaration.name).\(drafts[$0].name)"
      }
      throw draft.place.error(
        "the inverse of \(index.types[draft.owner].declaration.name).\(draft.name) is not clear"
          + (names.isEmpty ? "" : ": it may be \(names.sorted().joined(separator: ", "))"),
        hint: "Name it in a copy of the source: @Relationship(inverse: …)")
    }
    inverses[position] = back[0]
    inverses[back[0]] = position
  }
}
