import Dispatch
import Foundation
import Synchronization

/// Runs git, which only reads.
enum GitCommand {
  struct Answer {
    /// The exit code; 127 if there is no git.
    var code: Int32
    var output: [UInt8]
    var error: String
  }

  /// `input` is smaller than a pipe holds.
  static func run(_ arguments: [String], input: String) throws -> Answer {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["git"] + arguments
    var environment = ProcessInfo.processInfo.environment
    // Neither locks, nor a fetch of what a partial clone lacks, nor messages in other languages.
    environment.merge(["GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"]) { $1 }
    process.environment = environment
    let (given, output, error) = (Pipe(), Pipe(), Pipe())
    (process.standardInput, process.standardOutput, process.standardError) = (given, output, error)
    try given.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try given.fileHandleForWriting.close()
    // To wait until it exits would look twenty times a second.
    let end = DispatchSemaphore(value: 0)
    process.terminationHandler = { _ in end.signal() }
    do { try process.run() } catch { return Answer(code: 127, output: [], error: "\(error)") }
    let said = Mutex(Data())
    let group = DispatchGroup()
    DispatchQueue.global().async(group: group) {
      let data = (try? error.fileHandleForReading.readToEnd()) ?? Data()
      said.withLock { $0 = data }
    }
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    group.wait()
    end.wait()
    let text = said.withLock { String(decoding: $0.prefix(1000), as: UTF8.self) }
    return Answer(code: process.terminationStatus, output: Array(data), error: text)
  }
}
