import CoreDataModel
import CoreDataStore

/// Which objects the links of a relationship may not lead to after a step, for their entity alone.
struct LinkFates {
  private let binding: StoreBinding
  private let next: ManagedObjectModel
  /// By source entity: what its objects become; none where they go as a whole.
  private let heirs: [String: [String]]
  private let lines: [AccountLine]

  /// `next` is the version that the account leads to.
  init(_ account: VersionAccount, _ binding: StoreBinding, to next: ManagedObjectModel) {
    (self.binding, self.next, lines) = (binding, next, account.lines)
    let entities = account.lines.filter { $0.kind == .entity }
    heirs = Dictionary(entities.map { ($0.entity, $0.isGone ? [] : $0.to) }) { first, _ in first }
  }

  /// Z_ENT of objects that go as a whole, and of those that the new relationship does not take.
  func targets(of line: AccountLine) -> (gone: Set<Int>, unfit: Set<Int>) {
    var found: (gone: Set<Int>, unfit: Set<Int>) = ([], [])
    guard let relationship = binding.layout.model.relationship(line.name ?? "", of: line.entity) else { return found }
    let admitted = line.to.compactMap { next.relationship(at: $0)?.destinationEntity }
    for (name, number) in numbers(of: relationship.destinationEntity) {
      let heirs = heirs[name] ?? []
      if heirs.isEmpty {
        found.gone.insert(number)
      } else if !admitted.isEmpty, !heirs.contains(where: { heir in admitted.contains { next.isKind(heir, of: $0) } }) {
        found.unfit.insert(number)
      }
    }
    return found
  }

  /// Z_ENT of the objects whose own links are not carried, of a line that counts those of a hierarchy.
  func owners(of line: AccountLine) -> Set<Int> {
    Set(
      lines.filter { $0.countedAs == line.path && $0.name == line.name && $0.isGone }
        .compactMap { binding.layout.entityNumbers[$0.entity] })
  }

  /// Z_ENT of all of them, over the links that are carried.
  func apart(in account: VersionAccount) -> Set<Int> {
    account.lines.filter(\.mayBeCleared).reduce(into: []) { found, line in
      let targets = targets(of: line)
      found.formUnion(targets.gone.union(targets.unfit).union(owners(of: line)))
    }
  }

  private func numbers(of kind: String) -> [(name: String, number: Int)] {
    let model = binding.layout.model
    return binding.layout.entityNumbers.filter {
      model.isKind($0.key, of: kind) && model.entity($0.key)?.isAbstract == false
    }.map { ($0.key, $0.value) }
  }
}
