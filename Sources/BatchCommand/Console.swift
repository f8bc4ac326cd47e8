import Batch
import Glibc
import Synchronization

/// Standard output for results, standard error for everything else.
enum Console {
  static func print(_ text: String) { Swift.print(text) }
  static func error(_ text: String) { write(text + "\n") }

  /// Tells that a store was opened on a recovered copy, if it was.
  static func tellRecovery(_ reader: StoreReader) {
    if reader.isRecovered { error("note: \(SourceStore.recoveryNote)") }
  }

  static func write(_ text: String) {
    // Straight to the descriptor: C's `stderr` is a global variable, which Swift 6 does not let through.
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { Glibc.write(2, $0.baseAddress, $0.count) }
      if written <= 0 { return }
      rest = rest.dropFirst(written)
    }
  }

  static var isTerminal: Bool { isatty(2) == 1 }
  static var width: Int {
    var size = winsize()
    return ioctl(2, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 20 ? Int(size.ws_col) : 80
  }

  /// Peak resident memory of this process in bytes.
  static var peakMemory: Int {
    var usage = rusage()
    return getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 ? usage.ru_maxrss * 1024 : 0
  }

  static func size(_ bytes: UInt64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"]
    var (value, unit) = (Double(bytes), 0)
    while value >= 1024, unit < units.count - 1 { (value, unit) = (value / 1024, unit + 1) }
    return unit == 0 ? "\(bytes) B" : "\(Double(Int(value * 10)) / 10) \(units[unit])"
  }

  static func count(_ number: UInt64) -> String {
    var text = ""
    for (index, digit) in String(number).reversed().enumerated() {
      if index > 0, index % 3 == 0 { text.append(" ") }
      text.append(digit)
    }
    return String(text.reversed())
  }

  static func duration(_ seconds: Double) -> String {
    let total = Int(seconds.rounded())
    if total < 60 { return "\(total) s" }
    if total < 3600 { return "\(total / 60) min \(total % 60) s" }
    return "\(total / 3600) h \(total % 3600 / 60) min"
  }
}

/// Shows progress on standard error: one line that is rewritten on a terminal, plain lines every ten seconds elsewhere.
final class ProgressLine: Sendable {
  private struct State {
    var lastShown: ContinuousClock.Instant?
    var isDrawn = false
  }

  private let isQuiet: Bool
  private let started = ContinuousClock.now
  private let state = Mutex(State())
  private let label: String

  init(isQuiet: Bool, label: String = "") {
    self.isQuiet = isQuiet
    self.label = label
  }

  var seconds: Double {
    let duration = ContinuousClock.now - started
    return Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
  }

  func show(_ progress: MigrationProgress) {
    guard !isQuiet else { return }
    let pause: Duration = Console.isTerminal ? .milliseconds(100) : .seconds(10)
    let isDue = state.withLock { state in
      guard ContinuousClock.now - (state.lastShown ?? started) >= pause else { return false }
      state.lastShown = ContinuousClock.now
      state.isDrawn = Console.isTerminal
      return true
    }
    guard isDue else { return }
    Console.write(Console.isTerminal ? "\r\u{1B}[K" + line(progress) : line(progress) + "\n")
  }

  private func line(_ progress: MigrationProgress) -> String {
    var parts = ["\(Int(progress.fraction * 100)) %", "\(Console.count(UInt64(progress.rowsPerSecond))) rows/s"]
    if let left = progress.secondsLeft { parts.append("ETA \(Console.duration(left))") }
    if progress.steps > 1 { parts.append("step \(progress.step)/\(progress.steps)") }
    if !progress.activity.isEmpty { parts.append(progress.activity) }
    let text = parts.joined(separator: "  ")
    guard Console.isTerminal else { return text }
    let width = max(10, min(30, Console.width - 60))
    let filled = Int(progress.fraction * Double(width))
    let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
    return String("[\(bar)] \(text)".prefix(Console.width - 1))
  }

  /// Takes the line off a terminal.
  func clear() {
    if state.withLock({ $0.isDrawn }) { Console.write("\r\u{1B}[K") }
  }
}
