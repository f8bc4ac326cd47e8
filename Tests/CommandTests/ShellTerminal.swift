import Foundation
import Glibc
import Synchronization

/// A shell in a pseudo-terminal that has read the program's completion script. Lines are typed as a person types them.
///
/// The program that the shell finds answers requests for completions itself. What else it is called for it only writes
/// down.
final class ShellTerminal {
  private let process = Process()
  private let master: Int32
  private let results: String
  private let shown = Screen()
  private static let ready = "READY>"
  private static let separator = "\u{1F}"

  /// What the shell has shown.
  var screen: String { String(decoding: shown.bytes.withLock { $0 }, as: UTF8.self) }

  /// Filled by a thread of its own.
  private final class Screen: Sendable {
    let bytes = Mutex<[UInt8]>([])

    func watch(_ master: Int32) {
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = read(master, &buffer, buffer.count)
        guard count > 0 else { break }
        bytes.withLock { $0 += buffer[..<count] }
      }
      Glibc.close(master)
    }
  }

  /// Nil if the shell or setsid, which gives it the terminal, is not installed.
  static func start(_ shell: String, in folder: CommandFolder) throws -> ShellTerminal? {
    let paths = [shell, "setsid"].map { name in
      ["/bin/", "/usr/bin/"].map { $0 + name }.first(where: FileManager.default.isExecutableFile)
    }
    guard let path = paths[0], let setsid = paths[1] else { return nil }
    return try ShellTerminal(shell, [setsid, "--ctty", "--wait", path], folder)
  }

  private init(_ shell: String, _ words: [String], _ folder: CommandFolder) throws {
    var (first, second) = (Int32(-1), Int32(-1))
    var size = winsize(ws_row: 50, ws_col: 200, ws_xpixel: 0, ws_ypixel: 0)
    guard openpty(&first, &second, nil, nil, &size) == 0 else {
      throw CommandProcess.Missing(description: "there is no pseudo-terminal: \(String(cString: strerror(errno)))")
    }
    (master, results) = (first, folder.newPath("results"))
    let home = folder.newPath(shell)
    try Self.write("", to: results)
    try Self.install(shell, in: home, folder, results)
    process.executableURL = URL(fileURLWithPath: words[0])
    process.arguments = words.dropFirst() + (try Self.start(shell, home))
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    process.environment = [
      "PATH": "\(home)/bin:/usr/bin:/bin", "HOME": home, "ZDOTDIR": home, "TERM": "xterm", "LC_ALL": "C.UTF-8",
    ]
    let terminal = FileHandle(fileDescriptor: second, closeOnDealloc: true)
    (process.standardInput, process.standardOutput, process.standardError) = (terminal, terminal, terminal)
    try process.run()
    try terminal.close()
    Thread.detachNewThread { [shown, master] in shown.watch(master) }
    try wait { screen.contains(Self.ready) }
  }

  /// Ends the shell.
  func close() { kill(process.processIdentifier, SIGHUP) }

  /// Types a line and Return, and says which arguments the program got.
  func type(_ line: String) throws -> [String] {
    let (before, prompts) = (try calls().count, self.prompts)
    let bytes = Array((line + "\r").utf8)
    guard Glibc.write(master, bytes, bytes.count) == bytes.count else {
      throw CommandProcess.Missing(description: "the shell has gone: \(screen)")
    }
    try wait { try calls().count > before }
    // Before that the shell has not the terminal yet, and would take the next line for one that was typed ahead.
    try wait { self.prompts > prompts }
    return try calls()[before].split(separator: Self.separator).map(String.init)
  }

  /// How often the shell has asked for a line. One that it shows again, as when it completes, has it once more.
  private var prompts: Int { screen.ranges(of: Self.ready).count }

  private func calls() throws -> [Substring] {
    try String(contentsOfFile: results, encoding: .utf8).split(separator: "\n")
  }

  private func wait(for condition: () throws -> Bool) throws {
    let end = ContinuousClock.now + .seconds(60)
    while try !condition() {
      guard ContinuousClock.now < end else {
        throw CommandProcess.Missing(description: "the shell does not answer: \(screen)")
      }
      usleep(20_000)
    }
  }

  private static func install(_ shell: String, in home: String, _ folder: CommandFolder, _ results: String) throws {
    try FileManager.default.createDirectory(atPath: home + "/bin", withIntermediateDirectories: true)
    let program = try CommandProcess.path(of: "godwit")
    try write(
      """
      #!/bin/sh
      case "$1" in ---*) exec '\(program)' "$@" ;; esac
      printf '%s\\037' "$@" >> '\(results)'
      echo >> '\(results)'
      """, to: home + "/bin/godwit")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: home + "/bin/godwit")
    let script = try folder.run("godwit", ["--generate-completion-script", shell])
    guard script.code == 0 else { throw CommandProcess.Missing(description: "no script: \(script.error)") }
    try write(script.output, to: home + "/script")
    try write("PS1='\(ready) '\nsource ~/script\n", to: home + "/bashrc")
    try write("PS1='\(ready) '\nautoload -Uz compinit\ncompinit -D -u\nsource ~/script\n", to: home + "/.zshrc")
    try write("function fish_prompt; echo '\(ready) '; end\nsource ~/script\n", to: home + "/fishrc")
  }

  private static func start(_ shell: String, _ home: String) throws -> [String] {
    switch shell {
    case "bash": ["--noprofile", "--rcfile", home + "/bashrc", "-i"]
    case "zsh": ["--no-global-rcs", "-i"]
    case "fish": ["--no-config", "-i", "-C", "source \(home)/fishrc"]
    default: throw CommandProcess.Missing(description: "\(shell) is no shell that is known here")
    }
  }

  private static func write(_ text: String, to path: String) throws {
    try text.write(toFile: path, atomically: false, encoding: .utf8)
  }
}
