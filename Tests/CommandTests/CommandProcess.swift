import Foundation
import Glibc

/// A program of this package, started as a person starts it: what it prints goes to files, its input is empty.
final class CommandProcess {
  struct Outcome {
    /// The exit code; 128 and the signal's number when a signal ended it, as shells count.
    var code: Int32
    var output: String
    var error: String
  }

  struct Missing: Error, CustomStringConvertible {
    var description: String
  }

  private let process = Process()
  private let output: String
  private let error: String

  var pid: Int32 { process.processIdentifier }
  var isRunning: Bool { process.isRunning }

  /// Starts a program; `launcher` is one that starts it in its turn, as another user for example.
  init(_ name: String, _ arguments: [String], in folder: CommandFolder, launcher: [String] = []) throws {
    let words = launcher + [try Self.path(of: name, readsSwift: folder.readsSwift)] + arguments
    (output, error) = (folder.newPath("output"), folder.newPath("error"))
    process.executableURL = URL(fileURLWithPath: words[0])
    process.arguments = Array(words.dropFirst())
    var environment = ProcessInfo.processInfo.environment
    environment["GODWIT_STATE"] = folder.state
    environment["SWIFT_BACKTRACE"] = "enable=no"
    process.environment = environment
    process.standardInput = FileHandle.nullDevice
    for path in [output, error] { _ = FileManager.default.createFile(atPath: path, contents: nil) }
    process.standardOutput = FileHandle(forWritingAtPath: output)
    process.standardError = FileHandle(forWritingAtPath: error)
    try process.run()
  }

  // A test that fails midway must leave no stopped process behind.
  deinit { if process.isRunning { send(SIGKILL) } }

  func send(_ signal: Int32) { kill(pid, signal) }

  /// What it has written to standard error by now.
  var errorByNow: String { (try? String(contentsOfFile: error, encoding: .utf8)) ?? "" }

  func wait() throws -> Outcome {
    process.waitUntilExit()
    let isSignal = process.terminationReason == .uncaughtSignal
    return Outcome(
      code: process.terminationStatus + (isSignal ? 128 : 0),
      output: try String(contentsOfFile: output, encoding: .utf8),
      error: try String(contentsOfFile: error, encoding: .utf8))
  }

  /// Waits until something has stopped the process.
  func waitUntilStopped() throws {
    while isRunning {
      let status = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
      if status.split(separator: ")").last?.hasPrefix(" T") == true { return }
      usleep(1000)
    }
    throw Missing(description: "the process was not stopped: \(try wait())")
  }

  /// The programs lie beside the tests' own: which file that is depends on how the tests were started. GODWIT_PROGRAMS
  /// names a folder with others of their names, as a release build has them; they need not read Swift. A path is taken
  /// as it is.
  static func path(of name: String, readsSwift: Bool = false) throws -> String {
    if name.hasPrefix("/") { return name }
    let others = readsSwift ? nil : ProcessInfo.processInfo.environment["GODWIT_PROGRAMS"]
    let programs = [Bundle.main.executablePath ?? ""] + ProcessInfo.processInfo.arguments
    let own = programs.filter { $0.contains("/") }.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path }
    let folders = (others.map { [$0] } ?? []) + own
    for folder in folders where FileManager.default.isExecutableFile(atPath: folder + "/" + name) {
      return folder + "/" + name
    }
    throw Missing(description: "\(name) is not built: it is in none of \(folders); run swift build first")
  }
}
