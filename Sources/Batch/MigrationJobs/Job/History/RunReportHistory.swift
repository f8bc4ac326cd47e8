import Foundation

// What a history says.
extension RunReport {
  mutating func take(_ history: RunHistory) {
    if let facts = history.facts {
      (sourceVersion, targetVersion) = (facts.sourceVersion, facts.targetVersion)
      source = facts.madeFrom?.path ?? facts.source
      (settings, memoryLimit) = (facts.settings, facts.memory)
      (run, origin, form) = (facts.run, facts.origin, facts.form)
    }
    path = history.origin?.steps ?? []
    bytesBefore = history.facts?.madeFrom?.bytes ?? history.origin?.bytes
    started = history.processes.first.flatMap { Self.text($0.at) }
    processes = history.processes.map(\.number).max() ?? 0
    takeCurve(history)
    // A run that is finished twice, since a crash came in between, says all only the first time.
    guard let end = history.ends.first(where: { $0.finished != nil }), let finished = end.finished else { return }
    (ended, done) = (Self.text(end.at), 1)
    (backup, bytesAfter, proof) = (finished.backup, finished.bytes, finished.proof)
    (steps, notes, tables) = (finished.tallies, finished.notes, finished.tables)
    (peakMemory, rowsRead) = (finished.peakMemory ?? peakMemory, finished.rowsRead ?? rowsRead)
  }

  private static func text(_ time: Double) -> String? {
    time > 0 && time < 1e11 ? Date(timeIntervalSince1970: time).ISO8601Format() : nil
  }

  /// Entities in the order of the new version, after them those that it lacks.
  mutating func takeEntities(_ history: RunHistory, read: [String: UInt64]) {
    let after = history.ends.first { $0.finished != nil }?.finished?.entities ?? []
    var before = history.origin?.entities ?? []
    for index in before.indices {
      // What was counted on the way is better than a sample.
      guard let rows = read[before[index].entity] else { continue }
      (before[index].rows, before[index].isEstimate) = (rows, false)
    }
    let known = Dictionary(before.map { ($0.entity, $0) }, uniquingKeysWith: { first, _ in first })
    entities = after.map { Entity(name: $0.entity, before: known[$0.entity], after: $0) }
    let named = Set(after.map(\.entity))
    entities += before.filter { !named.contains($0.entity) }.map { Entity(name: $0.entity, before: $0) }
  }

  /// The curve runs over all the time of the processes; of the seconds of the run those are taken off in the end in which
  /// they waited.
  private mutating func takeCurve(_ history: RunHistory) {
    defer { seconds -= waitedSeconds ?? 0 }
    let samples = Dictionary(grouping: history.samples, by: \.process)
    let ends = Dictionary(history.ends.map { ($0.process, $0) }, uniquingKeysWith: { first, _ in first })
    for (index, process) in history.processes.enumerated() {
      var last = RunHistory.Sample(
        process: process.number, at: process.at, rows: 0, bytes: 0, memory: 0, checkpoints: 0, done: done, step: 1,
        activity: "", paused: false)
      for sample in samples[process.number] ?? [] {
        // A clock that was set back is of no use for a while.
        let span = sample.at - last.at
        guard span > 0, span < 1e8, sample.rows >= last.rows, sample.bytes >= last.bytes else { continue }
        add(sample, since: last, span)
        last = sample
      }
      rowsRead &+= last.rows
      checkpoints &+= last.checkpoints
      let end = ends[process.number]
      let next = index + 1 < history.processes.count ? history.processes[index + 1] : nil
      guard end?.finished == nil, next != nil || end != nil else { continue }
      let pause = next.map { max(0, $0.at - (end?.at ?? last.at)) }
      interruptions.append(Interruption(seconds: seconds, pause: pause, code: end?.code, reason: end?.reason))
    }
  }

  private mutating func add(_ sample: RunHistory.Sample, since last: RunHistory.Sample, _ span: Double) {
    seconds += span
    let waited = max(0, min(span, (sample.waited ?? 0) - (last.waited ?? 0)))
    if waited > 0 { waitedSeconds = (waitedSeconds ?? 0) + waited }
    done = max(done, min(1, max(0, sample.done)))
    peakMemory = max(peakMemory, sample.memory)
    curve.append(
      Point(
        seconds: seconds, rowsPerSecond: Double(sample.rows - last.rows) / span,
        bytesPerSecond: Double(sample.bytes - last.bytes) / span, memory: sample.memory,
        checkpoints: sample.checkpoints >= last.checkpoints ? sample.checkpoints - last.checkpoints : 0, done: done,
        step: sample.step, activity: sample.activity, paused: sample.paused))
  }
}
