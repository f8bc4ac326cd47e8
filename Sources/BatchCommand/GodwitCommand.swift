import ArgumentParser
import Batch

/// The whole command as a library: a program of one's own calls ``main(policies:)`` and has `godwit` with its policies.
public struct GodwitCommand: ParsableCommand {
  /// The version of the product.
  public static let version = Program.version

  /// Name, abstract and subcommands.
  public static let configuration = CommandConfiguration(
    commandName: Program.name,
    abstract: "Migrates Core Data SQLite stores of any size, without Core Data.",
    discussion: "Version \(version), as --version prints it.\n\n\(ExitCodes.table)",
    subcommands: [
      InspectCommand.self, AppCommand.self, InitCommand.self, PlanCommand.self, MigrateCommand.self, ResumeCommand.self,
      StatusCommand.self,
      ControlCommand.self,
      ReportCommand.self, FleetCommand.self, TraceCommand.self, RollbackCommand.self,
      CleanCommand.self, SampleCommand.self,
      IdentifyCommand.self, ModelsCommand.self, HashCommand.self, DiffCommand.self, LockCommand.self, CheckCommand.self,
      MetadataCommand.self,
      ExportCommand.self, ImportCommand.self,
      MappingCommand.self, PoliciesCommand.self, VerifyCommand.self,
    ])

  /// Makes the command; the argument parser calls it.
  public init() {}

  /// Runs the command with the program's arguments and ends the process with one of the documented exit codes.
  public static func main(policies: [any EntityMigrationPolicy.Type]) -> Never {
    ProcessSignals.begin()
    Program.register(policies)
    if let reader = try? SwiftDataReader() { ModelFormats.register(reader) }
    var repeated = RepeatedOptions()
    if CommandLine.arguments.dropFirst().elementsEqual([StoreWorkerLoop.word]) {
      StoreWorkerLoop.serve { run($0, &repeated) }
    }
    Output.end(run(nil, &repeated))
  }

  /// Runs a command; nil stands for the program's own arguments. Returns the exit code.
  private static func run(_ words: [String]?, _ repeated: inout RepeatedOptions) -> Int32 {
    var parsed: (any ParsableCommand)?
    // An unpacked archive is there until the command ends.
    defer { UnfinishedFiles.removeAll() }
    do {
      try ProcessSignals.refuseTooFewFiles()
      if words == nil { try lookAtArguments() }
      let line = words ?? Array(CommandLine.arguments.dropFirst())
      CommandLineWords.begin(line, isOfList: words != nil)
      var command = try repeated.parse(line, by: Self.self) { try CommandShape.root().inner($0).optionWords }
      parsed = command
      try ProcessSignals.removingUnfinished { try command.run() }
      return 0
    } catch let code as ExitCode {
      return code.rawValue
    } catch let error where ExitCodes.isOurs(error) {
      let running = parsed as? any StoreCommand
      let told = XMLSource.completing(Failure.told(error, by: running), (parsed as? any ModelCommand)?.named)
      Console.error(Failure.text(told, by: running))
      if running?.json == true, let document = try? JSONOutput.text(FailureDocument(told)) { Console.print(document) }
      return told.exitCode
    } catch {
      return toldByParser(error, of: parsed)
    }
  }

  /// Help that was asked for, and errors of usage. Those that a command finds when it runs have its usage, too.
  private static func toldByParser(_ error: any Error, of command: (any ParsableCommand)?) -> Int32 {
    let code = exitCode(for: error)
    var text = fullMessage(for: error)
    if let error = error as? ValidationError, let command {
      let usage = usageString(for: type(of: command))
      let name = usage.split(separator: " ").prefix { !"[<-".contains($0.first ?? "-") }.joined(separator: " ")
      text = "Error: \(error.message)\nUsage: \(usage)\n  See '\(name) --help' for more information."
    }
    if !text.isEmpty { code == .success ? Console.print(text) : Console.error(text) }
    return code.rawValue
  }

  private static func lookAtArguments() throws {
    // Without any, a command that was given would do nothing and end well.
    guard !CommandLine.arguments.isEmpty else {
      throw BatchError(
        .failed, "the command's arguments cannot be read",
        hint: "They are taken from /proc/self/cmdline: mount /proc", effect: .nothingWritten)
    }
    if let answer = CompletionAnswer.text(Array(CommandLine.arguments.dropFirst())) {
      Output.write(answer)
      Output.end(0)
    }
    // Not the parser's own: that would take the option away from subcommands that have one of this name.
    guard CommandLine.arguments.dropFirst().elementsEqual(["--version"]) else { return }
    Console.print("\(Program.name) \(version)")
    Output.end(0)
  }
}
