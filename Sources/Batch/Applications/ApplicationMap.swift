import CoreDataModel
import MappingModels
import Migrations
import RunSupport

/// What an application has, as `app` shows it: models with their versions and steps, mapping models and policies.
package struct ApplicationMap: Sendable, Encodable {
  /// A policy that a mapping model names.
  package struct NeededPolicy: Sendable, Encodable {
    package var name: String
    package var entityMapping: String
    /// File and line in the application; nil if no source declares it.
    package var source: String?
    /// Whether this program has it.
    package var isAvailable: Bool
    /// Why it cannot be compiled into a program; nil if it can, or if there is no source.
    package var obstacle: String?
  }

  package struct Mapping: Sendable, Encodable {
    package var path: String
    package var policies: [NeededPolicy]
    /// Whether another mapping model stands in for it, which a person wrote for this program.
    package var isReplaced: Bool
  }

  package struct Step: Sendable, Encodable {
    package var from: String
    package var to: String
    /// `equal`, `mapped`, `inferred`, `none`, or `unread` if its mapping model cannot be read.
    package var way: String
    package var mappings: [Mapping]
    /// Mapping models that cannot be read, and that may be for the step.
    package var unread: [String] = []
    /// Why the step cannot be inferred.
    package var reasons: [String]
  }

  package struct Model: Sendable, Encodable {
    package var name: String
    package var path: String
    /// Where the same versions are once more.
    package var copies: [String]
    package var currentVersion: String?
    /// What is wrong with it; nil for nothing.
    package var problem: String?
    package var versions: [String]
    package var steps: [Step]
  }

  package struct UnusedMapping: Sendable, Encodable {
    package var path: String
    /// The versions that it was made for, if it names them.
    package var from: String?
    package var to: String?
  }

  package struct Policy: Sendable, Encodable {
    package var name: String
    package var source: String
    package var isAvailable: Bool
    /// Whether a mapping model names it.
    package var isNamed: Bool
    /// Why it cannot be compiled into a program; nil if it can.
    package var obstacle: String?
  }

  package struct Problem: Sendable, Encodable {
    package var path: String
    package var reason: String
  }

  package var path: String
  package var kind: String
  package var models: [Model]
  /// Mapping models that make no step of these models.
  package var unusedMappings: [UnusedMapping]
  package var policies: [Policy]
  package var problems: [Problem]

  /// Whether nothing of Core Data or SwiftData was found.
  package var isEmpty: Bool {
    models.isEmpty && unusedMappings.isEmpty && policies.isEmpty && problems.isEmpty
  }

  /// `known` are the names of the policies that this program has.
  package init(_ application: Application, known: [String]) {
    (path, kind) = (application.path, application.kind)
    let steps = application.models.map { ApplicationSteps(of: $0.bundle, in: application) }
    let needed = application.mappings.map { application.policies(of: $0.model, known: Set(known)) }
    models = zip(application.models, steps).map { Self.model($0, $1, of: application, needed: needed) }
    let used = Set(steps.flatMap { $0.steps.flatMap { $0.mappings + $0.replaced } })
    unusedMappings = application.mappings.enumerated().filter { !used.contains($0.offset) }.map {
      UnusedMapping(
        path: $0.element.place, from: $0.element.model.sourceModelName, to: $0.element.model.destinationModelName)
    }
    let named = Set(needed.flatMap(\.self).map(\.name))
    policies = application.policies.map {
      Policy(
        name: $0.name, source: $0.place, isAvailable: known.contains($0.name), isNamed: named.contains($0.name),
        obstacle: $0.obstacle)
    }
    problems = application.problems.map {
      Problem(path: $0.place, reason: $0.reason + ($0.hint.map { ". " + $0 } ?? ""))
    }
  }

  private static func model(
    _ model: Application.Model, _ steps: ApplicationSteps, of application: Application, needed: [[NeededPolicy]]
  ) -> Model {
    let found = ModelInspection(model.bundle)
    let versions = model.bundle.versions.map(\.name)
    let mapped = steps.steps.map { step in
      Step(
        from: versions[step.source], to: versions[step.destination], way: "mapped",
        mappings: (step.mappings + step.replaced).sorted().map {
          Mapping(
            path: application.mappings[$0].place, policies: needed[$0], isReplaced: step.replaced.contains($0))
        }, reasons: [])
    }
    let others = found.steps.filter { step in !mapped.contains { $0.from == step.from && $0.to == step.to } }.map {
      Step(
        from: $0.from, to: $0.to, way: $0.isEqual ? "equal" : $0.isInferable ? "inferred" : "none", mappings: [],
        reasons: $0.isEqual ? [] : $0.reasons)
    }
    let order = Dictionary(versions.enumerated().map { ($1, $0) }) { first, _ in first }
    return Model(
      name: application.name(of: model), path: model.place, copies: model.copies,
      currentVersion: model.bundle.currentVersion, problem: model.bundle.lostVersion, versions: versions,
      steps: unread(others + mapped, model, of: application).sorted {
        (order[$0.from] ?? 0, order[$0.to] ?? 0) < (order[$1.from] ?? 0, order[$1.to] ?? 0)
      })
  }

  /// The steps with the mapping models that may be for them and cannot be read, where nothing stands in for these.
  private static func unread(_ steps: [Step], _ model: Application.Model, of application: Application) -> [Step] {
    let unread = application.unread(for: model).map { (place: $0.place, reach: Application.reach($0, model)) }
    guard !unread.isEmpty else { return steps }
    let versions = model.bundle.versions.map(\.name)
    let written = Set(application.mappings.filter(\.isWritten).map(\.place))
    return steps.map { step in
      guard step.way != "equal", !step.mappings.contains(where: { written.contains($0.path) }),
        let source = versions.firstIndex(of: step.from), let destination = versions.firstIndex(of: step.to)
      else { return step }
      var step = step
      step.unread = unread.filter { $0.reach.holds(.init(source: source, destination: destination)) }.map(\.place)
      if step.mappings.isEmpty, !step.unread.isEmpty { (step.way, step.reasons) = ("unread", []) }
      return step
    }
  }
}

extension Application {
  /// The policies that a mapping model names; Swift's classes with their module, or without.
  fileprivate func policies(of mapping: MappingModel, known: Set<String>) -> [ApplicationMap.NeededPolicy] {
    mapping.entityMappings.compactMap { entity in
      guard entity.rules == nil, let name = entity.policyClassName else { return nil }
      let short = Application.Policy.short(name)
      let source = policies.first { $0.name == short }
      return ApplicationMap.NeededPolicy(
        name: short, entityMapping: entity.name, source: source?.place,
        isAvailable: known.contains(name) || known.contains(short), obstacle: source?.obstacle)
    }
  }
}
