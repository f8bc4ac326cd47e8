import Batch
import Foundation
import Streams

/// The text of a `godwit.yaml` for an application.
struct ProjectDraft {
  private let application: Application
  private let model: Application.Model
  private let steps: [ApplicationSteps.Step]
  private let mappings: [Int]
  private let folder: String
  private let swift: SwiftOptions

  /// `output` is where the text goes: paths are written from its folder.
  ///
  /// Throws ``BatchError`` (`noModel`) if several models or none are meant.
  init(_ application: Application, _ question: ApplicationQuestion, output: String, swift: SwiftOptions) throws {
    let choice = try application.choice(question)
    guard let model = application.models.first(where: { $0.paths == choice.models }) else {
      throw BatchError(.failed, "the model that was taken is not in the application", path: application.path)
    }
    if let lost = model.bundle.lostVersion {
      let names = model.bundle.versions.map(\.name).joined(separator: ", ")
      throw BatchError(
        .noModel, lost, hint: "Choose the current version in Xcode. The versions in their order: \(names)",
        effect: .nothingWritten, path: model.bundle.path)
    }
    let found = ApplicationSteps(of: model.bundle, in: application)
    (self.application, self.model, self.swift) = (application, model, swift)
    (steps, mappings) = (found.steps, found.used)
    folder = FilePaths.directory(of: URL(fileURLWithPath: output).standardizedFileURL.path)
  }

  var text: String {
    let lines =
      Self.head + (isInPlace ? modelLines : applicationLines) + types + order + (isInPlace ? mappingLines : [])
      + policyLines + Self.defaults
    return lines.joined(separator: "\n") + "\n"
  }

  /// Whether commands can name the model by itself.
  private var isInPlace: Bool { application.isInPlace && model.paths.count == 1 }

  private static let head = [
    "# Options of godwit, for commands on stores beside this file and for those that are run in its folder:",
    "#   godwit plan STORE, godwit migrate STORE",
    "# The command line counts before this file. All keys: docs/manual/application.md",
  ]

  private var versions: String {
    let bundle = model.bundle
    let names = bundle.versions.map(\.name)
    let range = names.count > 1 ? ", \(names[0]) to \(names[names.count - 1])" : ""
    return "\(names.count.counted("version"))\(range)"
      + (bundle.currentVersion.map { ", current \($0)" } ?? "")
  }

  private var modelLines: [String] { ["", "# The model: \(Self.comment(versions)).", "models:", item(model.paths[0])] }

  private var applicationLines: [String] {
    [
      "", "# The application, which has the models and the mapping models.", "app: \(path(application.path))",
      "# Its model: \(Self.comment(versions)).", "bundle: \(Self.scalar(application.name(of: model)))",
    ]
  }

  private var types: [String] {
    (swift.swiftTypes.isEmpty ? [] : ["swift-types:"] + swift.swiftTypes.map { "  - \(Self.scalar($0))" })
      + (swift.defines.isEmpty ? [] : ["define:"] + swift.defines.map { "  - \(Self.scalar($0))" })
  }

  private var order: [String] {
    guard model.bundle.versions.count > 1 else { return [] }
    return ["", "# The order of the versions, as it is without this key.", "# versions:"]
      + model.bundle.versions.map { "#   - \(Self.scalar($0.name))" }
      + ["# The version to migrate to, if it is not the current one.", "# to: \(Self.scalar(target))"]
  }

  private var target: String { model.bundle.currentVersion ?? model.bundle.versions.last?.name ?? "" }

  private var mappingLines: [String] {
    let unread = application.unread(for: model)
    guard !mappings.isEmpty || !unread.isEmpty else {
      return ["", "# There is no mapping model: all steps are inferred.", "# mappings:"]
    }
    let names = model.bundle.versions.map(\.name)
    return ["", "# Mapping models, and the steps that they make.", "mappings:"]
      + unread.map { item($0.path) + "  # cannot be read: put a sound copy in its place, or take this line out" }
      + mappings.map { place in
        let made = steps.filter { $0.mappings.contains(place) }.map {
          "\(names[$0.source]) to \(names[$0.destination])"
        }
        return item(application.mappings[place].path) + "  # \(Self.comment(made.joined(separator: ", ")))"
      }
  }

  /// The files that declare the policies which the mapping models name.
  private var policyLines: [String] {
    let map = ApplicationMap(application, known: Program.policies.names)
    let taken = Set(mappings.map { application.mappings[$0].place })
    let needed = map.models.flatMap(\.steps).flatMap(\.mappings).filter { taken.contains($0.path) }.flatMap(\.policies)
    guard !needed.isEmpty else { return [] }
    var lines = [
      "", "# Sources of the policies that mapping models name. A program that registers them runs them, as in",
    ]
    lines += ["# docs/manual/policies.md; rules of a mapping file may replace them: godwit mapping convert"]
    let files = application.policySources(of: needed.map(\.name))
    lines += files.isEmpty ? ["# policies:"] : ["policies:"] + files.map(item)
    var seen: Set<String> = []
    return lines
      + needed.filter { seen.insert($0.name).inserted }.map {
        "  # \(Self.comment($0.name)): \(Self.comment($0.source ?? "no source here")), "
          + ($0.isAvailable ? "in this program" : "not in this program")
          + Self.comment($0.obstacle.map { "; it cannot be compiled here: \($0)" } ?? "")
      }
  }

  private static let defaults = [
    "", "# Defaults of options: the name without dashes, and the value.", "# memory: 256M", "# verify: full",
    "# These count only in a file that --config names: drop, accept-loss, keep-backups, on-failure and others.",
  ]

  private func item(_ path: String) -> String { "  - \(self.path(path))" }

  /// A path as it is written: from the folder of the file, if it lies there.
  private func path(_ path: String) -> String {
    let whole = URL(fileURLWithPath: path).standardizedFileURL.path
    return Self.scalar(whole.hasPrefix(folder + "/") ? String(whole.dropFirst(folder.count + 1)) : whole)
  }

  /// A text as YAML takes it, whatever is in it.
  static func scalar(_ text: String) -> String {
    let isPlain =
      text.first.map { $0.isLetter || $0 == "/" } == true
      && text.utf8.allSatisfy {
        $0 == 32 || $0 > 43 && $0 < 58 || ($0 & 0xDF) > 64 && ($0 & 0xDF) < 91 || $0 == 95 || $0 == 43
      }
    guard
      !isPlain || text.hasSuffix(" ")
        || ["true", "false", "null", "yes", "no", "on", "off"].contains(text.lowercased())
    else { return text }
    return (try? String(decoding: JSONEncoder.plain.encode(text), as: UTF8.self)) ?? "\"\""
  }

  private static func comment(_ text: String) -> String {
    String(text.unicodeScalars.map { $0.value < 32 || $0.value == 127 ? " " : Character($0) })
  }
}

extension JSONEncoder {
  fileprivate static var plain: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes]
    return encoder
  }
}
