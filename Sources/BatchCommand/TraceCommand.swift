import ArgumentParser
import Batch

struct TraceCommand: StoreCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "trace", abstract: "Follows one object through a migration: what becomes of it, and by which rule.",
    discussion: """
      Nothing is changed: the object is migrated alone, with the objects that it leads to, into a temporary folder. The object that stands \
      for it gets the key that the whole migration gives it. What depends on other objects may differ: whether an object is found by a \
      look-up or created, and the keys of created objects, which are marked *. After a migration, name the old store (the backup), and \
      the new one with --result.
      """)

  @Argument(help: .store, completion: .store) var store: String
  @Argument(help: "The object's entity.", completion: .entities) var entity: String
  @Argument(help: "The object's key (Z_PK).") var key: Int64
  @OptionGroup var models: ModelOptions
  @OptionGroup var parts: PartArguments
  @Option(
    name: .long,
    help: ArgumentHelp("The store that the migration made: the object is looked up there.", valueName: "store"),
    completion: .store)
  var result: String?
  @Flag(name: .long, help: "Show the values of attributes, too.") var values = false
  @Flag(name: .long, help: .json) var json = false

  var changed: String? { nil }
  var named: ModelArguments { models.named }
  var place: String? { store }

  func run() throws {
    var request = try models.request(store)
    request.parts = parts.selection
    let trace = try MigrationJob(policies: Program.policies)
      .trace(entity, key: key, in: request, result: result, values: values)
    Console.print(json ? try JSONOutput.document(trace) : TraceText(trace, result: result).text)
  }
}
