import ArgumentParser
import Batch

struct AppCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "app",
    abstract: "Shows what an application has: models, versions, steps, mapping models, policies. Writes nothing.",
    discussion: """
      An application is a folder with its sources (an Xcode project, a workspace, a Swift package), an .app, an .ipa or an \
      .xcarchive. Other commands take it with --app, and then use the model that fits the store.
      """)

  @Argument(help: ArgumentHelp("The application.", valueName: "path"), completion: .application) var path: String
  @OptionGroup var swift: SwiftOptions
  @Flag(name: .long, help: .json) var json = false

  func run() throws {
    let application = try Application(path: path)
    let map = ApplicationMap(application, known: Program.policies.names)
    // Where nothing is to be shown, the error says what was looked for.
    if json || !map.isEmpty {
      let text = ApplicationText(map, folder: application.folder, builder: PolicyBuild.builder)
      Console.print(json ? try JSONOutput.document(map) : text.text)
    }
    if map.models.isEmpty { throw application.nothing }
  }
}
