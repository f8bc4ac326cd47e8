import Foundation
import Glibc
import Testing

@testable import BatchCommand

@Suite("Whom a run tells about itself", .serialized)
struct OutletTests {
  private let folder: CommandFolder
  private let store: String

  init() throws {
    folder = try CommandFolder()
    store = try folder.sample("A \"library\".sqlite", rows: 3000)
  }

  private func text(_ name: String) throws -> String { try String(contentsOfFile: folder.file(name), encoding: .utf8) }

  /// A program that writes its words and its GODWIT_ variables to a file, each on a line.
  private func program() throws -> String {
    let path = folder.file("hook")
    try
      "#!/bin/sh\nfor word; do echo \"$word\"; done > \(folder.file("called"))\nenv | grep '^GODWIT_[^S]\\|^GODWIT_STORE' >> \(folder.file("called"))\n"
      .write(toFile: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
    return path
  }

  @Test("A run that ends well leaves metrics and a log, and calls its command with words that no shell has read")
  func success() throws {
    let outcome = try folder.run(
      "book-migration",
      [
        "migrate", store, "--metrics", folder.file("godwit.prom"), "--log-file", folder.file("godwit.log"),
        "--on-success",
        "\(try program()) 'two words' $(reboot) ;", "--on-failure", "false",
      ] + CommandFolder.models)
    #expect(outcome.code == 0 && outcome.error.isEmpty, "\(outcome)")
    let metrics = try text("godwit.prom")
    let label = "{store=\"\(folder.path)/A \\\"library\\\".sqlite\"}"
    for line in ["godwit_running\(label) 0", "godwit_progress_ratio\(label) 1", "godwit_exit_code\(label) 0"] {
      #expect(metrics.contains("\n\(line)\n"), "\(line): \(metrics)")
    }
    #expect(metrics.hasSuffix("\n# EOF\n") && metrics.contains("godwit_read_rows_total\(label) "))
    #expect(try text("godwit.log").contains(" info step 2 of 2 is written"))
    let called = try text("called").split(separator: "\n").map(String.init)
    #expect(
      called.prefix(4) == ["two words", "$(reboot)", ";", "GODWIT_BACKUP=\(store).backup-"] || called[0] == "two words")
    #expect(called[1] == "$(reboot)" && called[2] == ";" && called.contains("GODWIT_OUTCOME=success"))
    #expect(called.contains("GODWIT_STORE=\(store)") && called.contains("GODWIT_EXIT_CODE=0"))
  }

  @Test("A run that fails or stops calls the command for that, whose failure changes no exit code")
  func failure() throws {
    let missing = try folder.run(
      "godwit", ["migrate", folder.file("none.sqlite"), "--on-failure", try program()] + CommandFolder.models)
    #expect(missing.code != 0)
    let called = try text("called")
    #expect(
      called.contains("GODWIT_EXIT_CODE=\(missing.code)\n") && called.contains("GODWIT_OUTCOME=failure"), "\(called)")
    let stopped = try folder.run(
      "book-migration",
      ["migrate", store, "--throttle", "300rows/s", "--max-runtime", "2s", "--on-stop", "sh -c 'exit 7'"]
        + CommandFolder.models)
    #expect(stopped.code == 75 && stopped.error.contains("the command sh ended with 7"), "\(stopped)")
  }

  @Test("systemd is told READY, STATUS with percent, WATCHDOG and STOPPING, and a socket that is gone does no harm")
  func notify() throws {
    let path = NSTemporaryDirectory() + "godwit-\(getpid())-notify"
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    defer {
      close(descriptor)
      unlink(path)
    }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let bound = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(bound == 0)
    let process = try CommandProcess(
      "book-migration", ["migrate", store, "--notify", "--throttle", "1krows/s"] + CommandFolder.models, in: folder,
      launcher: ["/usr/bin/env", "NOTIFY_SOCKET=\(path)"])
    var (text, chunk) = ("", [UInt8](repeating: 0, count: 4096))
    while true {
      // What was sent before the end is there once the end is seen.
      let isRunning = process.isRunning
      let count = recv(descriptor, &chunk, chunk.count, Int32(MSG_DONTWAIT))
      if count > 0 {
        text += String(decoding: chunk[..<count], as: UTF8.self) + "\n"
      } else if isRunning {
        usleep(20_000)
      } else {
        break
      }
    }
    #expect(try process.wait().code == 0)
    // Nobody reads these: the sender does not wait.
    for _ in 0..<1000 { SystemdSocket(path)?.send(["WATCHDOG=1"]) }
    for word in ["READY=1\n", "WATCHDOG=1\n", " %  ", "STOPPING=1\n"] {
      #expect(text.contains(word), "\(word): \(text)")
    }
    SystemdSocket(path + "-gone")?.send(["READY=1"])
    #expect(SystemdSocket(nil) == nil && SystemdSocket("relative") == nil)
  }

  @Test("A command line falls into words as a person means it, without a shell")
  func words() {
    #expect(ShellLine("  a  'b c' \"d \\\"e\\\"\" f\\ g '' ").whole == ["a", "b c", "d \"e\"", "f g", ""])
    #expect(ShellLine("a 'b").whole == nil && ShellLine("a\\").whole == nil && ShellLine(" ").whole == [])
  }
}
