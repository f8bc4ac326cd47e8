import Batch
import Glibc
import RunSupport

/// Standard output for results, standard error for everything else.
enum Console {
  static func print(_ text: String) { Output.write(VisibleText.of(text) + "\n") }
  static func error(_ text: String) { write(VisibleText.of(text) + "\n") }

  /// Says what a person should know and a program need not: how the command was understood.
  static func note(_ text: String) { if !CommandLineWords.isSilent { error("note: \(text)") } }

  /// Says that a store was opened on a recovered copy, if it was.
  static func tellRecovery(_ reader: StoreReader) {
    if reader.isRecovered { error("note: \(SourceStore.recoveryNote)") }
  }

  /// Text for standard error as it is: its escape sequences are meant.
  static func write(_ text: String) {
    ProcessSignals.waitIfEnding()
    // Straight to the descriptor: C's `stderr` is a global variable, which Swift 6 does not let through.
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { Glibc.write(2, $0.baseAddress, $0.count) }
      if written < 0, errno == EINTR { continue }
      if written <= 0 { return }
      rest = rest.dropFirst(written)
    }
  }

  static var isTerminal: Bool { isatty(2) == 1 }
  /// Text for standard output as it is, without a line's end: what a program reads, or escape sequences.
  static func writeOutput(_ text: String) { Output.write(text) }
  /// Whether escape sequences that move the cursor may be written to standard error and to standard output.
  static var canRedraw: Bool { isTerminal && variable("TERM") != "dumb" }
  static var outputCanRedraw: Bool { isatty(1) == 1 && variable("TERM") != "dumb" }
  /// Whether colours may be used: https://no-color.org
  static var isColored: Bool { canRedraw && variable("NO_COLOR").isEmpty }
  private static func variable(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }

  /// Columns of the terminal, asked again with every line: it may have been resized.
  static var width: Int { width(of: 2) }

  private static func width(of descriptor: Int32) -> Int {
    var size = winsize()
    return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }

  /// Rows that a text takes on the terminal of standard output, where a long line goes on in the next row.
  static func rows(of text: String) -> Int { rows(of: text, width: width(of: 1)) }

  static func rows(of text: String, width: Int) -> Int {
    text.split(separator: "\n", omittingEmptySubsequences: false).reduce(0) {
      $0 + max(1, ($1.count + width - 1) / width)
    }
  }

  /// Peak resident memory of this process in bytes.
  static var peakMemory: Int { Int(ProcessMemory.peak) }

  static func size(_ bytes: UInt64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"]
    var (value, unit) = (Double(bytes), 0)
    while value >= 1024, unit < units.count - 1 { (value, unit) = (value / 1024, unit + 1) }
    return unit == 0 ? "\(bytes) B" : "\(Double(Int(value * 10)) / 10) \(units[unit])"
  }

  static func count(_ number: UInt64) -> String { number.grouped }

  /// A number; of an estimate the first three digits.
  static func count(_ number: UInt64, isEstimate: Bool) -> String {
    guard isEstimate else { return count(number) }
    var unit: UInt64 = 1
    while number / unit >= 1000 { unit *= 10 }
    return "about \(count((number / unit + (number % unit * 2 >= unit ? 1 : 0)) * unit))"
  }

  static func duration(_ seconds: Double) -> String {
    // A quotient may be any number.
    let total = Int(exactly: seconds.rounded()) ?? Int.max
    if total < 60 { return "\(total) s" }
    if total < 3600 { return "\(total / 60) min \(total % 60) s" }
    return "\(total / 3600) h \(total % 3600 / 60) min"
  }
}
