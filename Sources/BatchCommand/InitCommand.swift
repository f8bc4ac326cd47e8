import ArgumentParser
import Batch
import Foundation
import Streams

struct InitCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Writes godwit.yaml for an application, so that commands on a store need nothing else.",
    discussion: """
      The file names the model, its mapping models and the sources of its policies, with comments. Name a store, or --bundle, if the \
      application has several models.
      """)

  @Argument(help: ArgumentHelp("A store of the application.", valueName: "store"), completion: .store) var store:
    String?
  @Option(name: .long, help: .app, completion: .application) var app: String
  @Option(
    name: .long,
    help: .bundle,
    completion: .bundles)
  var bundle: String?
  @OptionGroup var swift: SwiftOptions
  @Option(
    name: .long,
    help: ArgumentHelp("The file to write. Default: godwit.yaml in the current folder.", valueName: "path"),
    completion: .documents)
  var output = ProjectFile.name
  @Flag(name: .long, help: "Replace a file that is there.") var force = false

  var changed: String? { nil }
  var onlyReads: Bool { false }

  func run() throws {
    try OutputPath("--output", output).check([store].compactMap(\.self))
    let application = try Application(path: app)
    let hashes = try store.map(StoreHashes.read)
    let question = ApplicationQuestion(
      store: store, hashes: hashes, bundle: bundle, command: CommandLineWords.naming)
    let text = try ProjectDraft(application, question, output: output, swift: swift).text
    try write(text)
    let path = URL(fileURLWithPath: output).standardizedFileURL.path
    Console.print("wrote \(path)")
    let next = ProgramName.command(["plan"] + (store.map { [$0] } ?? [])).line + (store == nil ? " STORE" : "")
    Console.print("next: \(next)")
  }

  private func write(_ text: String) throws {
    guard force || !FileManager.default.fileExists(atPath: output) else {
      throw BatchError(
        .refused, "the file is there already", hint: "To replace it: \(CommandLineWords.adding(["--force"]))",
        effect: .nothingWritten, path: output)
    }
    do {
      let options: Data.WritingOptions = force ? [.atomic] : [.withoutOverwriting]
      try Data(text.utf8).write(to: URL(fileURLWithPath: output), options: options)
    } catch {
      throw BatchError(
        .failed, "the file cannot be written", hint: "Name a file in a folder that is there with --output",
        effect: .nothingWritten, path: output, cause: error)
    }
  }
}
