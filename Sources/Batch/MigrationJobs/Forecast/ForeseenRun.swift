import Migrations
import RunSupport
import Streams

// What a whole run takes, by what its steps do.
extension Rehearsal {
  /// Waits for the disk that every run has, and every step of it: measured.
  private static let fixedWaits = 15
  private static let waitsOfStep = 8
  /// Those of a run that is over before it is written down, whatever its steps.
  private static let unwrittenWaits = 12
  /// Seconds of a process that begins and ends, on the machine that ``ProcessorSpeed`` compares with: measured.
  private static let fixedSeconds = 0.033
  private static let fixedSecondsOfStep = 0.018
  /// Seconds of a file or folder that is copied, beside its wait for the disk: measured there, too.
  private static let secondsOfCopy = 0.0002

  func forecast(
    _ steps: [MigrationForecast.Step], proof: Double, fixed: Double, speed: DiskSpeed?, sampled: UInt64,
    share: Double
  ) -> MigrationForecast {
    let sizes = steps.map { Double($0.bytes) }
    // A step's input stays until the next step is done, and so does the one before.
    let peak =
      sizes.indices.map { index in
        sizes[max(0, index - 2)...index].reduce(0, +) + (steps[index].isWrittenTwice ? sizes[index] : 0)
      }.max() ?? 0
    let written = zip(sizes, steps).reduce(0) { $0 + $1.0 * ($1.1.isWrittenTwice ? 2 : 1) }
    let used = steps.reduce(0) { $0 + $1.processorSeconds }
    let hands = Double(ProcessorSpeed.count)
    // Threads wait for each other, or for a processor.
    let writing = max(steps.reduce(0) { $0 + $1.seconds }, used / hands)
    let disk = speed.map { written / $0.bytesPerSecond } ?? 0
    return MigrationForecast(
      steps: steps, proofSeconds: proof, seconds: fixed + max(writing + proof, disk),
      peakDisk: Foreseen.whole(peak),
      peakMemory: peakMemory(steps, share: share), fixedSeconds: fixed, diskSpeed: speed,
      sampledRows: sampled)
  }

  /// Seconds of what does not depend on rows.
  func fixed(steps: Int, _ speed: DiskSpeed?) -> Double {
    let own = Self.fixedSeconds + Self.fixedSecondsOfStep * Double(max(0, steps - 1))
    let waits = copies.map { Self.fixedWaits + Self.waitsOfStep * steps + $0.names } ?? Self.unwrittenWaits
    let copied = copies.map { copies in
      ProcessorSpeed.slowness * Self.secondsOfCopy * Double(copies.names)
        + (speed.map { Double(copies.bytes) / $0.copiedPerSecond } ?? 0)
    }
    return planning + Double(waits) * (speed?.latency ?? 0) + (copied ?? 0) + ProcessorSpeed.slowness * own
  }

  /// What this process took, and what index entries take that wait for the sorting.
  private func peakMemory(_ steps: [MigrationForecast.Step], share: Double) -> UInt64 {
    let own = ProcessMemory.peak
    let entries = steps.last.map { step in
      let sorted = min(step.indexBytes, UInt64(memory.sortBytes))
      return sorted - min(sorted, step.sampledIndexBytes, UInt64(memory.sample(share).sortBytes))
    }
    return own + (entries ?? 0)
  }
}
