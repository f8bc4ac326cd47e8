import Migrations

// What a policy deletes is taken back while it is open: what is written stays.
extension MigrationSession {
  /// Takes back an object that the call at work has made and linked with nothing.
  func delete(_ object: NSManagedObject) {
    guard !object.isDeleted, !hasEnded else { return }
    guard object.kind.side == .destination else {
      return fail(
        "an object of the source cannot be deleted: the source of a migration stays as it is",
        hint: "To leave it out, return before super.createDestinationInstances", of: object)
    }
    guard !linkedNow.contains(ObjectIdentifier(object)) else {
      return fail(
        "the object is linked with others, and cannot be deleted",
        hint: "Delete it before it is linked, or do not make it", of: object)
    }
    if object.key == 0 {
      made.removeAll { $0 === object }
    } else if !takeBack(object) {
      return
    }
    (object.target, object.known, object.isDeleted) = (nil, nil, true)
    deleted.append(object)
  }

  /// Whether an object that has a key could be taken back; else the call fails.
  private func takeBack(_ object: NSManagedObject) -> Bool {
    guard let target = object.target else {
      fail(
        "the object is written already, and cannot be deleted",
        hint: "Decide in the call that makes it: return before super.createDestinationInstances, or do not insert it",
        of: object)
      return false
    }
    guard engine.takeBack(target) else {
      fail(
        "objects were made after it, so it cannot be deleted", hint: "Delete the objects that were made last first",
        of: object)
      return false
    }
    if object === primary { (primary, primaryTarget) = (nil, nil) } else { made.removeAll { $0 === object } }
    return true
  }
}
