import RunSupport
import Streams

/// What a call has made is taken back when its object is rejected.
extension MigrationManager {
  /// The error to throw for a source object that cannot be migrated: it names entity, key and reason, which must not hold values.
  public func rejection(of source: SourceObject, _ reason: String) -> BatchError {
    BatchError(.policyFailed, "the policy refuses the object: \(reason)", entity: source.entityName, key: source.key)
  }

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

  /// Takes back what a call has made that failed; false where it has changed objects that are written, or has ended the migration.
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
