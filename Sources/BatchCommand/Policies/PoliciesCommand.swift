import ArgumentParser
import Batch
import Foundation

struct PoliciesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "policies", abstract: "Compiles the policies of an application as they are.",
    subcommands: [PoliciesBuildCommand.self])
}

struct PoliciesBuildCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "build",
    abstract: "Makes a program that has all commands of this one, and the policies of these sources.",
    discussion: """
      Policies are classes of Swift that inherit from NSEntityMigrationPolicy. They are compiled without a change, as long as they \
      import CoreData and Foundation alone. Of a folder the files with policies are taken; name files that these need, too. What \
      cannot be compiled here is left out, and named.
      """)

  @Argument(
    help: ArgumentHelp("Swift files, or folders of them.", valueName: "source"),
    completion: .file(extensions: ["swift"]))
  var sources: [String]
  @Option(name: .long, help: ArgumentHelp("Where the program goes.", valueName: "path"), completion: .file())
  var output: String
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The sources of Godwit to compile against. Default: those that this program was compiled from.",
      valueName: "path"),
    completion: .directory)
  var package: String?
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Where what was compiled is kept for the next time. Default: ~/.cache/godwit/policies.", valueName: "path"),
    completion: .directory)
  var buildFolder: String?
  @Flag(name: .long, help: "Compile without optimization: quicker to build, many times slower to run.")
  var debug = false
  @Flag(name: .long, help: .json) var json = false

  private struct Document: Encodable {
    var output: String
    var seconds: Double
    var policies: [PolicyProgram.Policy]
    var omissions: [PolicyProgram.Omission]
  }

  func run() throws {
    try OutputPath("--output", output).check()
    guard PolicyBuild.builder == [ProgramName.current] else {
      let command = AdvisedCommand(line: ShellWords.line(PolicyBuild.builder + CommandLineWords.line))
      throw BatchError(
        .refused, "this program was built without the trait SwiftData: it reads no Swift, and compiles no policies",
        hint: "With a program that does, which takes minutes to build: \(command)", effect: .nothingWritten)
    }
    let program = try PolicyProgram(sources: sources)
    let build = try PolicyBuild(program, checkout: package, folder: buildFolder, isDebug: debug)
    if !json {
      Console.error("compiles \(program.policies.count.counted("policy", "policies")); the first time takes minutes")
    }
    let seconds = try build.run(to: output)
    let document = Document(
      output: output, seconds: seconds, policies: program.policies, omissions: program.omissions)
    Console.print(json ? try JSONOutput.document(document) : Self.text(document))
  }

  private static func text(_ document: Document) -> String {
    let path = document.output.contains("/") ? document.output : "./" + document.output
    var lines = ["\(document.output): \(document.policies.count.counted("policy", "policies"))"]
    for policy in document.policies {
      lines.append("  \(policy.name): \(policy.source)")
      if !policy.functions.isEmpty {
        lines.append("    mapping models can call \(policy.functions.joined(separator: ", "))")
      }
    }
    if !document.omissions.isEmpty { lines.append("left out:") }
    lines += document.omissions.map { "  \($0.source): \($0.reason)" }
    lines.append("It has all commands of godwit; use it in its place: \(ShellWords.quoted(path)) --help lists them")
    return lines.joined(separator: "\n")
  }
}
