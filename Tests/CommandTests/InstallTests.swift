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

  /// The program that the service starts, below a prefix of its own, with a `godwit` there.
  private func service(_ folder: CommandFolder, godwit: String) throws -> String {
    let text = try String(contentsOfFile: ExampleFolder.root + "/Packaging/systemd/godwit-service", encoding: .utf8)
    let (prefix, path) = (folder.newPath("prefix"), folder.newPath("godwit-service"))
    try text.replacing("@PREFIX@", with: prefix).write(toFile: path, atomically: true, encoding: .utf8)
    try FileManager.default.createDirectory(atPath: prefix + "/bin", withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: prefix + "/bin/godwit", withDestinationPath: godwit)
    return path
  }

  @Test("The service splits GODWIT_ARGUMENTS into words as a shell does, and runs and expands nothing of it")
  func serviceWords() throws {
    let folder = try CommandFolder()
    let printer = folder.newPath("printer")
    try "#!/bin/sh\nprintf '<%s>' \"$@\"\n".write(toFile: printer, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: printer)
    let service = try service(folder, godwit: printer)
    func words(_ text: String) throws -> String {
      let outcome = try Self.run("/bin/sh", [service, "/srv/My Library.sqlite"], ["GODWIT_ARGUMENTS": text])
      #expect(outcome.code == 0, "\(outcome)")
      return outcome.output
    }
    let head = "<migrate></srv/My Library.sqlite><--continue><--notify><--progress><lines>"
    let touched = folder.newPath("touched")
    let (line, found) = (
      "--on-stop 'touch \(touched)' \"a \\\"b\\\" \\c\"  d\\ e '' x'y z'é\n$(touch \(touched)) * `id` $HOME",
      "<--on-stop><touch \(touched)><a \"b\" \\c><d e><><xy zé><$(touch><\(touched))><*><`id`><$HOME>"
    )
    #expect(try words(line) == head + found)
    #expect(try words("") == head && words("  ") == head)
    #expect(!FileManager.default.fileExists(atPath: touched))
    let open = try Self.run("/bin/sh", [service, "/srv/x"], ["GODWIT_ARGUMENTS": "--on-stop 'touch"])
    #expect(open.code == 64 && open.output.contains("a quotation mark in GODWIT_ARGUMENTS is not closed"), "\(open)")
  }

  @Test("The service takes models in a folder whose name has a blank, and a command with an argument")
  func service() throws {
    let folder = try CommandFolder()
    let (store, models, ended) = (try folder.sample(rows: 200), folder.file("My Models"), folder.newPath("ended"))
    try FileManager.default.createDirectory(atPath: models, withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: ExampleFolder.models, toPath: models + "/Library.xcdatamodeld")
    let service = try service(folder, godwit: CommandProcess.path(of: "godwit"))
    let options = "--models '\(models)/Library.xcdatamodeld' --to \"Library 2\" --on-success 'touch \(ended)'"
    let outcome = try Self.run(
      "/bin/sh", [service, store], ["GODWIT_ARGUMENTS": options, "GODWIT_STATE": folder.state])
    #expect(outcome.code == 0 && outcome.output.contains("version Library 2"), "\(outcome)")
    #expect(FileManager.default.fileExists(atPath: ended))
  }

  /// Runs a program, perhaps with more in its environment; what it prints on both its outputs comes together.
  private static func run(
    _ path: String, _ arguments: [String], _ environment: [String: String] = [:]
  ) throws -> (code: Int32, output: String) {
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
    (process.standardOutput, process.standardError) = (pipe, pipe)
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }
}
