import MappingModels
import RunSupport

/// The error for policies that a program does not have: what needs them, where they are, and what to do.
struct MissingPolicies {
  /// An entity mapping that needs a policy.
  struct Need {
    let policy: String
    let mapping: String
    /// Its mapping model, if that is known.
    let model: String?
  }

  let needs: [Need]
  let registry: PolicyRegistry
  /// The mapping models of each step that needs one, by their names.
  var steps: [[String]] = []

  /// Swift classes stand in mapping models as Module.Class.
  static func short(_ name: String) -> String { name.split(separator: ".").last.map(String.init) ?? name }

  var error: BatchError {
    BatchError(.missingPolicy, message, hint: hint, effect: .nothingWritten)
  }

  private var names: [String] { needs.map { Self.short($0.policy) }.uniqued }

  private var message: String {
    let known = registry.names
    let own = known.isEmpty ? "this program has none" : "this program has \(known.joined(separator: ", "))"
    guard names.count > 1 else {
      let place = registry.sources[names[0]].map { "; the application has it in \($0.place)" } ?? ""
      return "entity mapping \(needs[0].mapping) needs the policy \(needs[0].policy); \(own)\(place)"
    }
    let list = names.map { name -> String in
      let mappings = needs.filter { Self.short($0.policy) == name }.map(\.mapping).uniqued
      let place = registry.sources[name].map { ", which the application has in \($0.place)" } ?? ""
      return "\(mappings.joined(separator: ", ")) the policy \(name)\(place)"
    }
    return "entity mappings need policies that are missing: \(list.joined(separator: "; ")); \(own)"
  }

  private var hint: String {
    let buildable = names.filter { registry.sources[$0].map { $0.obstacle == nil } ?? false }
    let files = buildable.compactMap { registry.sources[$0]?.path }.uniqued
    var sentences = ["Run the program that registers \(names.joined(separator: " and "))"]
    if !files.isEmpty {
      let all = buildable.count == names.count ? "make one" : "make one with \(buildable.joined(separator: " and "))"
      let words = registry.builder + ["policies", "build"] + files + ["--output", "godwit-policies"]
      sentences[0] += ", or \(all): \(AdvisedCommand(line: ShellWords.line(words)))"
    }
    sentences += names.compactMap { name in
      registry.sources[name]?.obstacle.map { "\(name) cannot be compiled here: \($0)" }
    }
    if let rules {
      sentences.append("Or write rules in \(names.count == 1 ? "its" : "their") place: \(rules)")
    }
    return sentences.joined(separator: ". ")
  }

  /// How files of rules are begun, step by step; nil if nobody knows where the mapping models are.
  private var rules: String? {
    let needing = needs.compactMap(\.model)
    let known = steps.filter { $0.contains(where: needing.contains) }
    guard !known.isEmpty, known.joined().allSatisfy({ registry.mappings[$0] != nil }) else { return nil }
    return known.flatMap { begin($0, needing: needing) }.joined(separator: "; ")
  }

  /// Mapping models of one step stand together: files take the place of all of them.
  private func begin(_ step: [String], needing: [String]) -> [String] {
    let paths = step.uniqued.map { (name: $0, path: registry.mappings[$0] ?? "") }
    let written = paths.filter { needing.contains($0.name) && MappingModelReader.isFile($0.path) }
    let others = paths.filter { !MappingModelReader.isFile($0.path) }
    let advice = written.map { "put them into \($0.path)" }
    guard others.contains(where: { needing.contains($0.name) }) else { return advice }
    let commands = others.map { name, path -> String in
      let words = ["mapping", "convert", registry.places[path] ?? path] + registry.models
      let line = "\(ShellWords.line([ProgramName.current] + words)) > \(ShellWords.quoted(name + ".yaml"))"
      return AdvisedCommand(line: line).description
    }
    let list = commands.joined(separator: " and ")
    return advice + [
      commands.count == 1
        ? "\(list) begins a file of them, to be named with --mappings"
        : "\(list) begin files of them, to be named together with --mappings, as they make one step"
    ]
  }
}
