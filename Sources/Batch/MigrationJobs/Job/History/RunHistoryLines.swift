import Foundation
import Streams

// As a file.
extension RunHistory {
  static let (mostSamples, mostProcesses, fileCap, lineCap) = (1200, 150, 8 << 20, 2 << 20)

  /// What a file says. Lines that mean nothing are left out, as one that a crash has torn.
  init(_ bytes: [UInt8]) {
    let decoder = JSONDecoder()
    for line in bytes.split(separator: 0x0A) where line.count <= Self.lineCap {
      if let line = try? decoder.decode(Line.self, from: Data(line)) { take(line) }
    }
  }

  /// What a file says, if it is there and can be one.
  package init?(path: String) {
    let files = LocalFileSystem()
    guard let status = try? files.statusOfName(path), status.isRegularFile,
      let bytes = try? files.readAll(path, cap: Self.fileCap)
    else { return nil }
    self.init(bytes)
  }

  mutating func take(_ line: Line) {
    if let facts = line.facts, facts.format == 1 { self.facts = facts }
    if let origin = line.origin { self.origin = origin }
    // Numbers rise, or the line is none of a run's.
    if let process = line.process, process.at.isFinite, process.number > processes.last?.number ?? 0 {
      processes.append(process)
    }
    if let sample = line.sample, sample.at.isFinite, sample.done.isFinite { samples.append(sample) }
    if let end = line.end, end.at.isFinite { ends.append(end) }
    if let every = line.every, every >= 1, every < 1e6 { self.every = every }
    // Bounds for a file that no run has written.
    if samples.count > 2 * Self.mostSamples { thin() }
    if processes.count > 2 * Self.mostProcesses { forget() }
    if ends.count > 2 * Self.mostProcesses { ends.removeSubrange(20..<Self.mostProcesses) }
  }

  /// All lines.
  var lines: [Line] {
    [Line(facts: facts), Line(origin: origin), Line(every: every)] + processes.map { Line(process: $0) }
      + samples.map { Line(sample: $0) } + ends.map { Line(end: $0) }
  }

  /// Leaves out every other sample of each process, except for its last one: counts continue, and the most memory of
  /// both stays.
  mutating func thin() {
    var kept: [Sample] = []
    for (index, sample) in samples.enumerated() {
      let isLast = index + 1 == samples.count || samples[index + 1].process != sample.process
      if let last = kept.last, last.process == sample.process, index % 2 == 1 || isLast {
        var both = sample
        both.memory = max(last.memory, sample.memory)
        kept[kept.count - 1] = both
      } else {
        kept.append(sample)
      }
    }
    // A run's own samples are half as many now.
    (samples, every) = (Array(kept.suffix(Self.mostSamples - 200)), every * 2)
  }

  /// Leaves out processes in the middle, with what they said.
  mutating func forget() {
    let kept = Set((processes.prefix(20) + processes.suffix(Self.mostProcesses / 2)).map(\.number))
    processes.removeAll { !kept.contains($0.number) }
    samples.removeAll { !kept.contains($0.process) }
    ends.removeAll { !kept.contains($0.process) }
  }
}
