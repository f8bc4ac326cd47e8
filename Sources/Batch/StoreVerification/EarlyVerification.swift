import CoreDataModel
import CoreDataStore
import RunSupport
import Streams
import Synchronization

/// Proves parts of a store while the rest of it is being written, on a thread that works when no other wants to.
///
/// What it finds is only ever used when it looked for exactly what the proof of the finished store looks for; whatever
/// goes wrong here is left to that proof, which then looks at everything itself and reports what it meets.
package final class EarlyVerification: PartWatcher {
  /// What belongs to the thread while it runs.
  private final class Work: @unchecked Sendable {
    // Sendable: `proof` is the thread's until it was joined.
    let path: String
    let proof: EarlyProof
    let parts = BoundedQueue<[ProofPart]>(capacity: .max)
    let isStopped = Mutex(false)

    init(_ path: String, _ proof: EarlyProof) { (self.path, self.proof) = (path, proof) }

    func run() throws {
      Worker.yieldToOthers()
      while let parts = try parts.pop() {
        for part in parts {
          if isStopped.withLock({ $0 }) { return }
          try proof.look(at: part)
        }
      }
    }
  }

  private let tables: [ProofTable]
  private let trees: [ProofIndex]
  private let sets: Int
  private let window: Int64
  private let limit: Int
  private let fileSystem: any FileSystem
  private let current = Mutex<(work: Work, worker: Worker)?>(nil)

  /// Prepares for a store whose tables and indexes are those of `shape`, a store without rows. The store is written to
  /// `fileSystem`; the shape lies there, too, if nothing else is said.
  package init(
    shape: String, on shapeDisk: (any FileSystem)? = nil, layout step: StoreLayout, fileSystem: any FileSystem,
    memory: MemoryBudget
  ) throws {
    self.fileSystem = fileSystem
    let connection = try StoreConnection(path: shape)
    let (model, schema) = (step.model, try connection.readSchema())
    let numbering = try EntityNumbering(EntityNumbering(model: model), numbers: step.entityNumbers)
    let binding = try StoreBinding(model: model, numbering: numbering, schema: schema, path: shape)
    let checks = try CheckPlan(binding: binding, schema: schema, on: connection)
    let plan = try ProofPlan(checks, in: ProofFile(path: shape, fileSystem: shapeDisk ?? fileSystem, isDense: true))
    (tables, trees, sets) = (plan.tables, plan.trees, plan.largestKeys.count)
    (window, limit) = (plan.window(memory), plan.recordLimit(memory))
  }

  // A run that fails leaves it behind.
  deinit { _ = stop() }

  package func begin(_ path: String, pageSize: Int, hasPointerMap: Bool) throws {
    _ = stop()
    let file = try ProofFile(
      beingWritten: path, fileSystem: fileSystem, pageSize: pageSize, hasPointerMap: hasPointerMap)
    let proof = EarlyProof(file, tables: tables, trees: trees, sets: sets, window: window, limit: limit)
    let work = Work(path, proof)
    let worker = try Worker { try work.run() }
    current.withLock { $0 = (work, worker) }
  }

  package func take(_ parts: [ProofPart]) {
    // A thread that met damage takes no more; the queue is thrown away with it.
    current.withLock { try? $0?.work.parts.push(parts) }
  }

  /// Ends the thread after the part that it looks at.
  private func stop() -> (work: Work, failure: (any Error)?)? {
    guard
      let (work, worker) = current.withLock({ current in
        defer { current = nil }
        return current
      })
    else { return nil }
    work.isStopped.withLock { $0 = true }
    work.parts.finish()
    return (work, worker.join())
  }

  /// Ends the work; returns what was found in a file, nil when that is nothing, or damage.
  func finish(_ path: String) -> EarlyProof? {
    guard let (work, failure) = stop(), failure == nil, work.path == path else { return nil }
    return work.proof
  }
}
