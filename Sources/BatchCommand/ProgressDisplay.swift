import ArgumentParser
import Batch
@preconcurrency import Dispatch
import Synchronization

/// How progress is shown on standard error.
enum ProgressMode: String, ExpressibleByArgument, CaseIterable {
  /// A bar on a terminal; JSON with `--json`, lines elsewhere.
  case auto
  /// One line that is drawn again in its place.
  case bar
  /// A line every ten seconds.
  case lines
  /// A JSON document a line, once a second: docs/manual/json.md.
  case json
  /// Nothing.
  case none

  /// What `auto` stands for.
  func resolved(json: Bool) -> ProgressMode {
    guard self == .auto else { return self }
    return json ? .json : Console.canRedraw ? .bar : .lines
  }

  var pause: Duration { self == .bar ? .milliseconds(100) : self == .lines ? .seconds(10) : .seconds(1) }
}

/// Shows progress on standard error as long as it is held. A timer reads the progress, so that work that reports
/// nothing for a while still shows that it lives.
final class ProgressDisplay: Sendable {
  private struct State {
    var isDrawn = false
    var source: @Sendable () -> MigrationProgress?

    /// Takes the line off a terminal.
    mutating func erase() {
      if isDrawn { Console.write("\r\u{1B}[K") }
      isDrawn = false
    }
  }

  private let mode: ProgressMode
  private let timer: any DispatchSourceTimer
  private let queue = DispatchQueue(label: "progress")
  private let started = ContinuousClock.now
  private let state: Mutex<State>

  /// Begins to show what `source` says; nothing as long as it says nothing.
  init(_ mode: ProgressMode, source: @escaping @Sendable () -> MigrationProgress? = { nil }) {
    self.mode = mode
    state = Mutex(State(source: source))
    timer = DispatchSource.makeTimerSource(queue: queue)
    let pause = Double(mode.pause / .milliseconds(1)) / 1000
    timer.schedule(deadline: .now() + pause, repeating: pause)
    timer.setEventHandler { [weak self] in self?.draw() }
    timer.resume()
  }

  deinit { timer.cancel() }

  /// Seconds since it began.
  var seconds: Double { (ContinuousClock.now - started) / .seconds(1) }

  /// What is to be shown from now on.
  func show(_ progress: MigrationProgress) { state.withLock { $0.source = { progress } } }

  /// The same of work that is not about rows.
  func show(_ fraction: Double, _ activity: String) {
    var progress = MigrationProgress(fraction: fraction, rows: 0, seconds: seconds)
    progress.activity = activity
    show(progress)
  }

  private func draw() {
    guard mode != .none, let progress = state.withLock({ $0.source })() else { return }
    switch mode {
    case .json: Console.write(VisibleText.json(ProgressRecord(progress).line) + "\n")
    case .bar:
      state.withLock { $0.isDrawn = true }
      // In one write, and what is left of a longer line is cleared after the new one: nothing is ever blank in between.
      Console.write("\r" + ProgressText(progress).bar(width: Console.width, isColored: Console.isColored) + "\u{1B}[K")
    case .auto, .lines, .none: Console.write(ProgressText(progress).line + "\n")
    }
  }

  /// Writes a line above the one that is drawn.
  func say(_ text: String) { above { Console.error(text) } }

  /// Writes something where the line was drawn, which is drawn again below it.
  func above(_ body: () throws -> Void) rethrows {
    try queue.sync {
      state.withLock { $0.erase() }
      try body()
    }
  }

  /// Shows nothing more, and takes the line off a terminal.
  func end() {
    timer.cancel()
    queue.sync {}
    state.withLock { $0.erase() }
  }
}

/// Progress in words.
struct ProgressText {
  private let progress: ProgressRecord

  init(_ progress: ProgressRecord) { self.progress = progress }
  init(_ progress: MigrationProgress) { self.progress = ProgressRecord(progress) }

  private var percent: String { "\(Int(progress.fraction * 100)) %" }
  private var step: [String] { progress.steps > 1 ? ["step \(progress.step)/\(progress.steps)"] : [] }
  private var waits: Bool { progress.paused || progress.activity == RunPhase.waiting }
  private var rates: [String] {
    var rates: [String] = []
    if waits { return progress.paused ? ["paused"] : [] }
    if progress.rowsPerSecond >= 1 { rates.append("\(UInt64(progress.rowsPerSecond).counted("row"))/s") }
    if progress.bytesPerSecond >= 1e4 { rates.append("\(Double(Int(progress.bytesPerSecond / 1e5)) / 10) MB/s") }
    return rates
  }
  private var left: [String] {
    (waits ? nil : progress.secondsLeft).map { ["ETA \(Console.duration($0))"] } ?? []
  }
  /// What is being done, with the mapping models by which it is done.
  private var activity: [String] {
    guard !progress.activity.isEmpty else { return [] }
    let models = progress.mappingModels.filter { $0 != "inferred" }.joined(separator: ", ")
    return [VisibleText.of(models.isEmpty ? progress.activity : "\(progress.activity) (\(models))")]
  }

  /// What matters most comes first.
  private var parts: [String] { [percent] + left + rates.prefix(1) + step + rates.dropFirst() + activity }

  /// A whole line of words.
  var line: String { parts.joined(separator: "  ") }

  /// A line for a terminal of that width. The bar's length depends on that alone, so that nothing jumps; the last
  /// column stays free, as some terminals go to the next line there.
  func bar(width: Int, isColored: Bool) -> String {
    let room = max(0, width - 1)
    let size = min(40, width / 5)
    guard size >= 8 else { return String(line.prefix(room)) }
    let words = line.count <= room - size - 3 ? line : line.prefix(room - size - 4) + "…"
    let filled = min(size, Int(progress.fraction * Double(size)))
    let (done, rest) = (String(repeating: "#", count: filled), String(repeating: "-", count: size - filled))
    return isColored ? "[\u{1B}[32m\(done)\u{1B}[2;39m\(rest)\u{1B}[0m] \(words)" : "[\(done)\(rest)] \(words)"
  }
}
