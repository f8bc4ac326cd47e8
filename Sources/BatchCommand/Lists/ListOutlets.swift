import Batch
import Foundation
import Logging
import Synchronization

/// Reports a list to others: one file of metrics, one service, one log, and one command at its end.
final class ListOutlets: Sendable {
  /// A service whose stores give no sign of life for so many seconds is to be started again.
  private static let longestSilence = 30.0

  private let outlets: RunOutlets
  private let logger: Logger
  private let name: String

  init(_ options: OutletOptions, _ run: ListRun) throws {
    name = run.list.path
    logger = try options.logger(store: nil)
    let ends = Mutex<[Int: Date]>([:])
    outlets = RunOutlets(options, name: name) { [weak run] code in
      run.map { Self.moment($0, code: code, ends: ends) }
    }
    logger.info("the list begins", metadata: ["list": "\(name)", "stores": "\(run.list.entries.count)"])
  }

  func end(_ summary: ListSummary) {
    for result in summary.stores where result.tone == .failed {
      logger.error("\(result.state): \(result.error ?? "")", metadata: ["store": "\(result.path)"])
    }
    logger.info("the list has ended: \(summary.headline)", metadata: ["list": "\(name)"])
    func count(_ isMeant: (ListResult) -> Bool) -> String { "\(summary.stores.count(where: isMeant))" }
    outlets.end(
      summary.exitCode,
      environment: [
        "GODWIT_MANIFEST": name, "GODWIT_STORES": "\(summary.stores.count)",
        "GODWIT_STORES_DONE": count { $0.tone == .done }, "GODWIT_STORES_FAILED": count { $0.tone == .failed },
        "GODWIT_STORES_STOPPED": count { $0.tone == .waiting },
        "GODWIT_STORES_UNCHANGED": count { ListState.isUnchanged($0.state) },
        "GODWIT_ERROR": summary.groups.first { $0.tone == .failed }.map { "\($0.state): \($0.reason ?? "")" },
      ])
  }

  private static func moment(_ run: ListRun, code: Int32?, ends: borrowing Mutex<[Int: Date]>) -> RunOutlets.Moment {
    let (results, running, job) = (run.results, Set(run.running), MigrationJob(policies: Program.policies))
    var isAlive = true
    let stores = results.enumerated().map { place, result in
      var store = MetricsFile.Store(name: result.path)
      if running.contains(place) {
        let status = try? job.status(run.list.entries[place].target)
        store.progress = status?.progress
        if let silence = status?.secondsSinceSign, status?.state == .running {
          isAlive = isAlive && silence < longestSilence
        }
      } else if result.state != ListState.notBegun || code != nil {
        store.code = result.exitCode
        store.end = ends.withLock { ends in
          let end = ends[place] ?? Date()
          ends[place] = end
          return end
        }
      }
      return store
    }
    let ended = results.count - results.count { $0.state == ListState.notBegun }
    let failed = results.count { $0.tone == .failed }
    let counts = [
      ("done", results.count { $0.tone == .done }), ("failed", failed), ("running", running.count),
      ("waiting", results.count { $0.tone == .waiting } - running.count),
    ]
    let text = "\(ended) of \(results.count.counted("store"))\(failed > 0 ? ", \(failed) failed" : "")"
    return RunOutlets.Moment(text: text, isAlive: isAlive, stores: stores, counts: counts)
  }
}
