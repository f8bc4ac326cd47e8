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
      let build = ProgramName.command(["policies", "build"] + files + ["--output", "godwit-policies"])
      sentences[0] += ", or \(all): \(build)"
    }
    sentences += names.compactMap { name in
      registry.sources[name]?.obstacle.map { "\(name) cannot be compiled here: \($0)" }
    }
    return sentences.joined(separator: ". ")
      + ". Or write rules in \(names.count == 1 ? "its" : "their") place: \(rules)"
  }

  /// How a file of rules is begun, for each mapping model.
  private var rules: String {
    let models = needs.compactMap(\.model).uniqued
    let known = models.compactMap { name in registry.mappings[name].map { (name, $0) } }
    guard !known.isEmpty, known.count == models.count else {
      return "\(ProgramName.current) mapping convert MAPPINGMODEL > RULES.yaml begins a file of them"
    }
    return known.map { name, path -> String in
      if MappingModelReader.isFile(path) { return "put them into \(path)" }
      let words = ShellWords.line([ProgramName.current, "mapping", "convert", path])
      return "\(AdvisedCommand(line: "\(words) > \(ShellWords.quoted(name + ".yaml"))")) begins a file of them"
    }.joined(separator: "; ")
  }
}
