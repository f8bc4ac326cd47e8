import Batch
import Foundation
import Glibc

/// A process of this program that runs commands on stores one after the other: what it has learned of their models
/// serves all of them. It stops in good order when the process that asks it is gone.
///
/// A request is the length of its words and the words, each ended by a zero; the answer is the exit code, and whether
/// the process runs another command. What a command prints goes to files without a name that both have.
final class StoreWorker: Sendable {
  let process: Process
  private let socket: Int32
  private let output: Int32
  private let error: Int32

  /// Starts the process. Throws ``BatchError`` (`failed`) if the system has no more files or processes.
  init(program: String) throws {
    var pair: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
      throw Self.failure()
    }
    socket = pair[0]
    (output, error) = (Self.unnamedFile(), Self.unnamedFile())
    process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = [StoreWorkerLoop.word]
    process.standardInput = FileHandle(fileDescriptor: pair[1])
    process.standardOutput = FileHandle(fileDescriptor: output)
    process.standardError = FileHandle(fileDescriptor: error)
    defer { close(pair[1]) }
    guard output >= 0, error >= 0 else { throw Self.noFile() }
    try process.run()
  }

  deinit {
    for file in [socket, output, error] where file >= 0 { close(file) }
  }

  private static func unnamedFile() -> Int32 {
    var path = Array((NSTemporaryDirectory() + "/godwit-XXXXXX").utf8CString)
    let file = mkstemp(&path)
    guard file >= 0 else { return file }
    unlink(path)
    _ = fcntl(file, F_SETFD, FD_CLOEXEC)
    return file
  }

  private static func noFile() -> BatchError {
    BatchError(
      .failed, "no temporary file can be created: \(String(cString: strerror(errno)))",
      hint: "Set TMPDIR to a folder that can be written, and start again", effect: .nothingWritten,
      path: NSTemporaryDirectory())
  }

  private static func failure() -> BatchError {
    BatchError(
      .failed, "a process for stores cannot be started: \(String(cString: strerror(errno)))",
      hint: "Raise the limits (ulimit -n, ulimit -u) and start again", effect: .nothingWritten)
  }

  /// Runs a command to its end. Nothing else may be asked meanwhile. `isLast`: ask another process for the next one.
  func run(_ words: [String]) -> (outcome: StoreProcesses.Outcome, isLast: Bool) {
    for file in [output, error] {
      ftruncate(file, 0)
      lseek(file, 0, SEEK_SET)
    }
    var answer = StoreWorkerLoop.Answer()
    let text = Array(words.map { Array($0.utf8) + [0] }.joined())
    let isAnswered =
      withUnsafeBytes(of: UInt32(text.count)) { StoreWorkerLoop.send($0, to: socket) }
      && text.withUnsafeBytes { StoreWorkerLoop.send($0, to: socket) }
      && withUnsafeMutableBytes(of: &answer) { StoreWorkerLoop.receive($0, from: socket) }
    if !isAnswered {
      process.waitUntilExit()
      answer.code = process.terminationStatus + (process.terminationReason == .uncaughtSignal ? 128 : 0)
      answer.isLast = true
    }
    let said = String(decoding: Self.contents(error), as: UTF8.self)
    return (
      StoreProcesses.Outcome(
        code: answer.code, output: Self.contents(output),
        error: said.trimmingCharacters(in: .whitespacesAndNewlines)), answer.isLast
    )
  }

  private static func contents(_ file: Int32) -> Data {
    var status = stat()
    guard fstat(file, &status) == 0 else { return Data() }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    let count = pread(file, &bytes, bytes.count, 0)
    return Data(bytes.prefix(max(0, count)))
  }
}
