import CoreDataStore
import RunSupport
import Streams

/// What is under a finished migration's path now, compared with what the migration left there.
public enum StorePresence: String, Sendable, Codable {
  /// The store that the migration left, and nobody has written to it.
  case same
  /// That store at its version, and something wrote to it since, or copied it.
  case written
  /// Another file, or that store at another version.
  case replaced
  /// The store as it was before the migration.
  case rolledBack = "rolled-back"
  /// Nothing.
  case missing

  /// Whether the migration's result is no longer there.
  public var isGone: Bool { self != .same && self != .written }
}

extension RunReport {
  /// Looks at the store. Nothing is written. Where it cannot be compared that is among the problems.
  mutating func look(_ history: RunHistory, finished: RunHistory.Finished, fileSystem: any FileSystem) {
    do {
      guard let status = try fileSystem.status(destination) else { return present = .missing }
      guard status.isRegularFile else { return present = .replaced }
      guard form != PlainMark.form else { return present = plainPresence(finished.result, fileSystem) }
      guard let result = finished.result, let identity = finished.identity else {
        return problems.append(
          "the run record does not say what the migration left, so the store there now was not compared with it")
      }
      let state = try? StoreState(destination, fileSystem)
      guard state != result else { return (present, presentVersion) = (.same, targetVersion) }
      let found = try StoreIdentity(destination, fileSystem)
      presentVersion = history.origin?.name(of: found.version)
      present = Self.presence(
        found, result: identity, isSource: state?.fingerprint == history.origin?.fingerprint, origin: history.origin)
    } catch let error as BatchError where error.code == .badStore {
      present = .replaced
    } catch {
      problems.append("the store cannot be read now: \(error)")
    }
  }

  /// Of a file of ordinary tables, which has neither a UUID nor a version.
  private func plainPresence(_ result: StoreState?, _ fileSystem: any FileSystem) -> StorePresence {
    guard PlainMark.isThere(destination, fileSystem) else { return .replaced }
    return result != nil && (try? StoreState(destination, fileSystem)) == result ? .same : .written
  }

  private static func presence(
    _ found: StoreIdentity, result: StoreIdentity, isSource: Bool, origin: RunHistory.Origin?
  ) -> StorePresence {
    guard found.uuid == result.uuid else { return .replaced }
    if isSource, origin?.fingerprint != nil { return .rolledBack }
    if found.version == result.version { return .written }
    return found.version == origin?.steps.first?.sourceDigest ? .rolledBack : .replaced
  }
}

extension RunHistory.Origin {
  /// The name of a version of the path by the digest of its hashes.
  fileprivate func name(of digest: String) -> String? {
    steps.lazy.compactMap { step in
      step.destinationDigest == digest ? step.destination : step.sourceDigest == digest ? step.source : nil
    }.first
  }
}
