import Migrations
import RunSupport

extension MigrationSession {
  /// An argument of a mapping model's expression as methods take it.
  func object(_ argument: FunctionArgument) throws -> Any? {
    switch argument {
    case .value(let value, let type):
      do { return try ValueBridge.object(value, type ?? .undefined) } catch let misfit as Misfit {
        throw engine.failure("an argument of the method \(misfit.reason)")
      }
    case .source(let row): return current?.row === row ? current : window(row)
    case .destination(let target): return target === primaryTarget ? ownPrimary() : window(target)
    case .list(let members):
      let objects = try members.map { try object($0) }
      return (objects as? [NSManagedObject]).map { Set($0) } ?? objects
    case .word(.manager): return manager
    case .word(.entityMapping): return work
    case .word(.sourceContext): return sourceContext
    case .word(.destinationContext): return destinationContext
    }
  }
}
