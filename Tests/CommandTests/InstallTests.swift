import Foundation
import Testing

@Suite("What is installed")
struct InstallTests {
  @Test("Command, manual page with every subcommand and exit code, completions, and a service that systemd finds sound")
  func install() throws {
    let prefix = FileManager.default.temporaryDirectory.appendingPathComponent("install-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: prefix) }
    guard try Self.run("/usr/bin/env", ["python3", "--version"]).code == 0 else {
      return print("skipped: there is no python3 for scripts/manual")
    }
    let made = try Self.run(
      "/bin/sh", [ExampleFolder.root + "/scripts/install", prefix, CommandProcess.path(of: "godwit")])
    #expect(made.code == 0, "\(made.output)")
    #expect(try Self.run(prefix + "/bin/godwit", ["--help"]).code == 0)
    let manual = try String(contentsOfFile: prefix + "/share/man/man1/godwit.1", encoding: .utf8)
    let help = try Self.run(prefix + "/bin/godwit", ["--help"]).output
    let commands = help.split(separator: "SUBCOMMANDS:")[1].split(separator: "\n").compactMap { line in
      line.hasPrefix("  ") && !line.hasPrefix("   ") ? line.split(separator: " ").first : nil
    }
    #expect(commands.count > 10)
    for command in commands where command != "See" { #expect(manual.contains(".SS godwit \(command)\n"), "\(command)") }
    #expect(manual.contains("\\fB\\-\\-max\\-runtime\\fR") && manual.contains("75   stopped, resumable"))
    for path in [
      "bash-completion/completions/godwit", "zsh/site-functions/_godwit", "fish/vendor_completions.d/godwit.fish",
    ] {
      #expect(
        try String(contentsOfFile: "\(prefix)/share/\(path)", encoding: .utf8).contains("---complete-line"), "\(path)")
    }
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze") else {
      return print("skipped: there is no systemd-analyze")
    }
    let units = ["service", "timer"].map { "\(prefix)/lib/systemd/system/godwit@.\($0)" }
    let verified = try Self.run("/usr/bin/systemd-analyze", ["verify", "--man=no"] + units)
    #expect(verified.code == 0 && !verified.output.contains("godwit@"), "\(verified.output)")
  }

  /// Runs a program; what it prints on both its outputs comes together.
  private static func run(_ path: String, _ arguments: [String]) throws -> (code: Int32, output: String) {
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    (process.standardOutput, process.standardError) = (pipe, pipe)
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }
}
