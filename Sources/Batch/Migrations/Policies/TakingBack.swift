import Streams

/// What a call has made is taken back when its object is rejected.
extension StepObjects {
  /// Where a call begins.
  struct Beginning {
    fileprivate var mark: RecordPage.Mark
    fileprivate var nextKeys: [Int64]
    fileprivate var addedLinks: AddedLinks
    fileprivate var patches: UInt64
  }

  var beginning: Beginning {
    Beginning(mark: output.mark, nextKeys: nextKeys, addedLinks: addedLinks, patches: patches.count)
  }

  /// Takes back one open object that nothing is linked with, as if it had not been made; false for one whose key would
  /// leave a gap, as a later one has the next.
  func takeBack(_ object: DestinationObject) -> Bool {
    if object.mapping != nil {
      hasPrimary = false
    } else {
      guard nextKeys[object.entity.table] == object.key + 1 else { return false }
      nextKeys[object.entity.table] -= 1
    }
    objects.forget(object)
    return true
  }

  /// Takes back what a call has made that failed; false where it has changed objects that are written, or has ended the
  /// migration.
  func takeBack(to beginning: Beginning) -> Bool {
    guard cancellation == nil, patches.count == beginning.patches else { return false }
    output.forget(behind: beginning.mark)
    (nextKeys, addedLinks) = (beginning.nextKeys, beginning.addedLinks)
    madeKeys.removeAll(keepingCapacity: true)
    objects.forget()
    hasPrimary = false
    return true
  }
}
