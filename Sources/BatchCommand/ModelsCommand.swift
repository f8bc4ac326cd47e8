import ArgumentParser
import Batch

struct ModelsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "models", abstract: "Lists models, their versions, and which steps between them can be inferred.",
    discussion: """
      Versions are listed in order; * marks the current one. A staged migration names a version by its checksum. A step that \
      cannot be inferred needs a mapping model. A store is a model of one version: the one that it carries.
      """)

  @Argument(help: .models, completion: .models) var paths: [String]
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Write every version as an .xcdatamodel: into this folder, or as the package of this name. Overwrites nothing.",
      valueName: "path"),
    completion: .directory)
  var extract: String?
  @OptionGroup var swift: SwiftOptions
  @Flag(name: .long, help: .json) var json = false

  private struct Found: Encodable {
    var models: [ModelInspection]
    var extracted: [ModelExtraction.Package]?
  }

  func run() throws {
    let bundles = try ModelLibrary(paths: paths).bundles
    let written = try extract.map { try ModelExtraction(bundles, to: $0).packages }
    let found = Found(models: bundles.map(ModelInspection.init), extracted: written)
    let lines = found.models.map(Self.text) + (written ?? []).map(\.text)
    Console.print(json ? try JSONOutput.document(found) : lines.joined(separator: "\n"))
  }

  private static func text(_ model: ModelInspection) -> String {
    let count = model.versions.count
    var lines = ["\(model.path): \(count.counted("version"))"]
    let width = model.versions.map(\.name.count).max() ?? 0
    for version in model.versions {
      let identifiers = version.identifiers.filter { !$0.isEmpty }.joined(separator: ", ")
      lines.append(
        "\(version.isCurrent ? "  * " : "    ")\(version.name.padding(width))  \(version.checksum)  "
          + version.entities.counted("entity", "entities")
          + (identifiers.isEmpty ? "" : ", identifier \(identifiers)"))
      if let problem = version.problem { lines.append("      problem: \(problem.replacing("\n", with: "\n        "))") }
    }
    if let current = model.currentVersion, !model.versions.contains(where: \.isCurrent) {
      lines.append("  problem: the current version \(current) is not in the model")
    }
    lines += model.warnings.map { "  warning: \($0)" }
    return (lines + model.steps.map(text)).joined(separator: "\n")
  }

  private static func text(_ step: ModelInspection.Step) -> String {
    let pair = "  \(step.from) to \(step.to): "
    if step.isEqual { return pair + "the same hashes, nothing to migrate" }
    guard !step.isInferable else { return pair + "can be inferred" }
    let more = step.reasons.count > 1 ? ", and \(step.reasons.count - 1) more" : ""
    return pair + "needs a mapping model: \(step.reasons.first ?? "")\(more)"
  }
}
