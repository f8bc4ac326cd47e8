import Batch
import Foundation
import Glibc
import Logging

/// A file that lines are appended to, whoever else does so.
final class LogFile: Sendable {
  private let descriptor: Int32

  init(path: String) throws {
    descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw BatchError(
        .refused, "the log cannot be opened: \(String(cString: strerror(errno)))",
        hint: "Choose another path", effect: .nothingWritten,
        path: path)
    }
  }

  deinit { close(descriptor) }

  func append(_ line: String) {
    // One write a line: lines of two processes do not mix.
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
  }
}

/// Lines of a log: time, level, text, and what belongs to it.
struct LogFileHandler: LogHandler {
  let file: LogFile
  var logLevel: Logger.Level
  var metadata: Logger.Metadata = [:]

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let all = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
      .joined()
    let text = "\(event.message)\(all)".map { $0.isNewline ? " " : $0 }
    file.append("\(Date().ISO8601Format()) \(event.level) \(VisibleText.of(String(text)))")
  }
}
