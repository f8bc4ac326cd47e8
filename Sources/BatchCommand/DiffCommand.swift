import ArgumentParser
import Batch
import Streams

struct DiffCommand: ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Shows what changes from one version of a model to another, and whether a mapping can be inferred.",
    discussion: """
      Each side is the path of a model, which means its current version; or a path and a version, as Library.xcdatamodeld:Library 1; \
      or a store, whose version is found in --models. A change marked * gives its entity another version hash, so that a store of \
      one version is not a store of the other. The exit code is 0 with and without differences.

      With --contents both sides are stores, an earlier and a later state of one. Their objects and links are compared, not their \
      models: + was added, - was removed, ~ was changed. Properties have their names if both stores carry their model or --models \
      has it; otherwise columns are named. Objects are the same if they have the same Z_PK, or the same value of --by. An object \
      that was only saved again, with the same values, is counted and not listed.
      """)

  @Argument(help: .sourceSide, completion: .side) var source: String
  @Argument(help: .destinationSide, completion: .side) var destination: String
  @OptionGroup var named: ModelArguments
  @Flag(name: .long, help: "Compare what two stores hold, instead of models.") var contents = false
  @OptionGroup var contentsOptions: ContentsOptions
  @OptionGroup var evidence: HashArgument
  @Flag(name: .long, help: .json) var json = false

  func validate() throws {
    guard !contents, let option = contentsOptions.used.first ?? (evidence.hash ? "--hash" : nil) else { return }
    throw ValidationError("\(option) belongs to --contents")
  }

  func run() throws {
    guard !contents else {
      return try evidence.reading([source, destination]) {
        try ContentsComparison(source, destination, options: contentsOptions, json: json).run(named.library())
      }
    }
    let library = try named.library()
    let (old, new) = (try ModelSide(source, library: library), try ModelSide(destination, library: library))
    let found = ModelDifference(from: old.model, to: new.model)
    let account = try account(old, new)
    Console.print(
      json
        ? try JSONOutput.document(DifferenceDocument(difference: found, account: account))
        : (DifferenceText(found).lines(old.name, new.name)
          + (account.map { [$0.balance].compactMap { $0 } + $0.notes } ?? []))
          .joined(separator: "\n"))
  }

  /// What a step that is inferred would do with what there is; of a store with counts.
  private func account(_ old: ModelSide, _ new: ModelSide) throws -> VersionAccount? {
    guard let store = old.store else { return try VersionAccount.foreseen(from: old.model, to: new.model) }
    let reader = try SourceStore.open(store, LocalFileSystem(), locking: .shared)
    defer { reader.close() }
    return try VersionAccount.foreseen(from: old.model, to: new.model, reader)
  }
}

/// A difference with its two verdicts.
private struct DifferenceDocument: Encodable {
  let difference: ModelDifference
  let account: VersionAccount?

  private enum Key: String, CodingKey { case isInferable, changesVersionHashes, changesColumns, account }

  func encode(to encoder: any Encoder) throws {
    try difference.encode(to: encoder)
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(difference.isInferable, forKey: .isInferable)
    try container.encode(difference.changesVersionHashes, forKey: .changesVersionHashes)
    try container.encode(difference.changesColumns, forKey: .changesColumns)
    try container.encodeIfPresent(account, forKey: .account)
  }
}

/// A difference as people read it: + for what is new, - for what is gone, ~ for what changed.
private struct DifferenceText {
  private let difference: ModelDifference

  init(_ difference: ModelDifference) { self.difference = difference }

  func lines(_ source: String, _ destination: String) -> [String] {
    let pair = "\(source) to \(destination): "
    guard !difference.entities.isEmpty || !difference.changes.isEmpty else { return [pair + "no difference"] }
    let verdict =
      if difference.changesColumns {
        "the same version hashes, but their columns hold different attributes: to be migrated"
      } else if !difference.changesVersionHashes {
        "the same version hashes, nothing to migrate"
      } else {
        difference.isInferable ? "can be inferred" : "needs a mapping model"
      }
    return [pair + verdict] + difference.changes.map { facet($0, indent: "  ") } + difference.entities.flatMap(entity)
      + difference.obstacles.flatMap(obstacle)
  }

  private func mark(_ kind: ChangeKind) -> String {
    switch kind {
    case .added: "+"
    case .removed: "-"
    case .renamed, .moved, .changed: "~"
    }
  }

  /// `old -> new` where the two differ.
  private func name(_ source: String?, _ destination: String?) -> String {
    guard let source, let destination, source != destination else { return destination ?? source ?? "" }
    return "\(source) -> \(destination)"
  }

  private func star(_ changesVersionHash: Bool) -> String { changesVersionHash ? " *" : "" }

  private func entity(_ entity: EntityDifference) -> [String] {
    let isWhole = entity.kind == .added || entity.kind == .removed
    let head = "  \(mark(entity.kind)) \(name(entity.source, entity.destination))"
    return [head + (isWhole ? star(true) : "")] + entity.changes.map { facet($0, indent: "      ") }
      + entity.properties.flatMap(property)
  }

  private func property(_ property: PropertyDifference) -> [String] {
    let kind =
      switch property.property {
      case .attribute: "attribute"
      case .relationship: "relationship"
      case .fetchedProperty: "fetched property"
      }
    let head =
      "      \(mark(property.kind)) \(kind) \(name(property.source, property.destination))\(star(property.changesVersionHash))"
    return [head] + property.changes.map { facet($0, indent: "          ") }
      + (property.condition.map { ["          if \($0)"] } ?? [])
  }

  private func facet(_ change: FacetChange, indent: String) -> String {
    "\(indent)\(change.facet): \(change.old ?? "none") -> \(change.new ?? "none")\(star(change.changesVersionHash))"
  }

  private func obstacle(_ obstacle: Obstacle) -> [String] {
    ["  \(obstacle.place): \(obstacle.reason)", "    \(obstacle.remedy)"]
  }
}
