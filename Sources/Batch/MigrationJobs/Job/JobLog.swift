import Foundation
import Logging
import Streams
import Synchronization

/// What a run did, line by line, for the person who asks later. It is never read to decide anything.
///
/// A line is "2025-01-31T12:00:00Z text". When the file reaches its cap it becomes `log.1` and a new one begins, so the
/// two never hold more than twice the cap.
public final class JobLog: Sendable {
  private struct State {
    var file: any File
    var length: UInt64
  }

  private let logger: Logger
  private let path: String
  private let cap: UInt64
  private let fileSystem: any FileSystem
  private let now: @Sendable () -> Date
  private let state: Mutex<State>

  /// A logger that goes nowhere: a library says nothing unless it is asked to.
  public static let silent = Logger(label: "godwit") { _ in SwiftLogNoOpLogHandler() }

  /// Opens the log to append. Every line also goes to `logger`. A last line that a crash left unfinished is ended
  /// first.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public init(
    _ job: JobDirectory, _ fileSystem: any FileSystem, cap: UInt64 = 4 << 20, logger: Logger = JobLog.silent,
    now: @escaping @Sendable () -> Date = { Date() }
  ) throws {
    path = job.log
    self.logger = logger
    self.cap = cap
    self.fileSystem = fileSystem
    self.now = now
    let file = try fileSystem.open(job.log, .updateOrCreate)
    var length = try file.size()
    if length > 0 {
      var last: UInt8 = 0
      _ = try withUnsafeMutableBytes(of: &last) { try file.read(into: $0, at: length - 1) }
      if last != 0x0A {
        try Self.newline.withUnsafeBytes { try file.write($0, at: length) }
        length += 1
      }
    }
    state = Mutex(State(file: file, length: length))
  }

  /// Appends a line. Line ends inside the text become spaces, so that a text cannot pretend to be two lines.
  ///
  /// - Throws: ``BatchError`` when it cannot be written; it is durable only after ``sync()``.
  public func append(_ text: String) throws {
    logger.info("\(text)")
    let single = text.map { $0.isNewline ? " " : $0 }
    let line = Array((now().ISO8601Format() + " " + String(single).prefix(Self.lineCap) + "\n").utf8)
    try state.withLock { state in
      if state.length > 0, state.length + UInt64(line.count) > cap { try turnOver(&state) }
      try line.withUnsafeBytes { try state.file.write($0, at: state.length) }
      state.length += UInt64(line.count)
    }
  }

  /// Makes all lines so far durable.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public func sync() throws { try state.withLock { try $0.file.sync() } }

  /// Closes the file. Further lines fail.
  public func close() { state.withLock { $0.file.close() } }

  private func turnOver(_ state: inout State) throws {
    state.file.close()
    try fileSystem.rename(path, to: path + ".1")
    state.file = try fileSystem.open(path, .create)
    state.length = 0
  }

  private static let lineCap = 8192
  private static let newline: [UInt8] = [0x0A]
}
