import Foundation

/// The objects of an ordered to-many relationship, which can be added to at its end.
final class LinkedOrderedSet: NSMutableOrderedSet {
  private let owner: NSManagedObject
  private let key: String

  init(_ owner: NSManagedObject, _ key: String) {
    (self.owner, self.key) = (owner, key)
    super.init(capacity: 0)
    for object in owner.session.attempt({ try owner.session.linked(owner, key) }) ?? [] { super.add(object) }
  }

  override init(capacity: Int) { preconditionFailure("made of an object alone") }
  required init?(coder: NSCoder) { nil }
  required init(arrayLiteral elements: Any...) { preconditionFailure("made of an object alone") }

  // Foundation's methods do not call each other.

  override func add(_ object: Any) {
    guard let other = object as? NSManagedObject, !contains(other) else { return }
    guard case .relationship(let link, isToMany: true)? = owner.kind.properties[key]?.kind, link.isOrdered else {
      return owner.session.fail(
        "\(key) is no ordered to-many relationship", hint: "Use mutableSetValue(forKey: \"\(key)\")", of: owner)
    }
    owner.session.attempt { try owner.session.add(other, to: link, key, of: owner) }
    super.add(object)
  }

  override func addObjects(from objects: [Any]) { for object in objects { add(object) } }
  override func union(_ other: NSOrderedSet) { addObjects(from: other.array) }
  override func insert(_ object: Any, at place: Int) {
    place == count ? add(object) : refuse("put into \(key) before others")
  }

  override func remove(_ object: Any) { refuseTaking() }
  override func removeObject(at place: Int) { refuseTaking() }
  override func removeAllObjects() { refuseTaking() }
  override func replaceObject(at place: Int, with object: Any) { refuseTaking() }
  override func minus(_ other: NSOrderedSet) { refuseTaking() }
  override func intersect(_ other: NSOrderedSet) { refuseTaking() }
  override func exchangeObject(at place: Int, withObjectAt other: Int) { refuse("put into another order") }
  override func moveObjects(at places: IndexSet, to place: Int) { refuse("put into another order") }

  private func refuseTaking() { refuse("taken out of \(key) again") }

  private func refuse(_ what: String) {
    let hint = "Add them in their order, and only those that stay"
    owner.session.fail("objects cannot be \(what)", hint: hint, of: owner)
  }
}
