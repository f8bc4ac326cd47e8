import Foundation
import Migrations

/// The objects of a to-many relationship, which can be added to.
final class LinkedSet: NSMutableSet {
  private let owner: NSManagedObject
  private let key: String

  init(_ owner: NSManagedObject, _ key: String) {
    (self.owner, self.key) = (owner, key)
    super.init(capacity: 0)
  }

  required init(capacity: Int) { preconditionFailure("made of an object alone") }
  required init?(coder: NSCoder) { nil }

  private var objects: [NSManagedObject] { owner.session.attempt { try owner.session.linked(owner, key) } ?? [] }

  override var count: Int { objects.count }

  override func member(_ object: Any) -> Any? { objects.first { $0.isEqual(object) } }

  override func objectEnumerator() -> NSEnumerator { NSArray(array: objects).objectEnumerator() }

  override func add(_ object: Any) {
    guard let other = object as? NSManagedObject else { return }
    guard case .relationship(let link, isToMany: true)? = owner.kind.properties[key]?.kind else {
      return owner.session.fail("\(key) is no to-many relationship", of: owner)
    }
    owner.session.attempt { try owner.session.add(other, to: link, key, of: owner) }
  }

  override func remove(_ object: Any) {
    owner.session.fail("objects cannot be taken out of \(key) again", hint: "Do not add what is not wanted", of: owner)
  }
}
