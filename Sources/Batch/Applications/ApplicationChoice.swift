import CoreDataModel
import MappingModels
import Migrations
import RunSupport

/// What is taken of an application for one store.
package struct ApplicationChoice: Sendable {
  /// Paths of the model.
  package var models: [String]
  /// Paths of the mapping models that make its steps.
  package var mappings: [String]
  /// What was found, and what of it was taken: a sentence for a person.
  package var note: String
  /// Mapping models that cannot be read, and may be for a step of the model.
  package var unread: UnreadMappings
  /// Paths of mapping models for which those that were named stand in, if commands can name them.
  package var replaced: [String]
}

/// What tells the models of an application apart, if they do not fit a store by themselves.
package struct ApplicationQuestion {
  /// How a person names the store; nil if there is none.
  package var store: String?
  /// The store's entity hashes.
  package var hashes: [String: [UInt8]]?
  /// The model that the store carries, which tells most about versions that are near.
  package var own: @Sendable () -> ManagedObjectModel? = { nil }
  /// The model that a person named, by its name or its path in the application.
  package var bundle: String?
  /// Mapping models that were named besides: they stand in for the application's.
  package var mappings: [MappingModel]
  /// The whole command with a model named.
  package var command: @Sendable (_ bundle: String) -> String

  package init(
    store: String?, hashes: [String: [UInt8]]?, bundle: String?, mappings: [MappingModel] = [],
    command: @escaping @Sendable (String) -> String
  ) {
    (self.store, self.hashes, self.bundle) = (store, hashes, bundle)
    (self.mappings, self.command) = (mappings, command)
  }
}

extension Application {
  /// Mapping models that a note lists.
  private static let mostListed = 3

  /// The model that fits a store by its version hashes, with its mapping models; without a store the only one.
  ///
  /// Throws ``BatchError`` (`noModel`) that lists the models, with a whole command, if several or none are meant.
  package func choice(_ question: ApplicationQuestion) throws -> ApplicationChoice {
    guard !models.isEmpty else { throw nothing }
    let (model, why) = try model(question)
    let steps = ApplicationSteps(of: model.bundle, in: self, beside: question.mappings)
    let taken = steps.used.filter { mappings[$0].model.destination == nil }
    return ApplicationChoice(
      models: model.paths, mappings: taken.map { mappings[$0].path },
      note: note(model, why: why, taken: taken, replaced: steps.replaced),
      unread: UnreadMappings(unread(for: model), of: path, standIns: question.mappings + written),
      replaced: isInPlace ? steps.replaced.map { mappings[$0].path } : [])
  }

  /// What people wrote for this program stands in for Xcode's.
  private var written: [MappingModel] { mappings.filter(\.isWritten).map(\.model) }

  /// The models that a person means where any version may be looked for: all, or the one that was named.
  package func models(named bundle: String?, command: @escaping @Sendable (String) -> String) throws -> [Model] {
    guard !models.isEmpty else { throw nothing }
    guard let bundle else { return models }
    return [try named(bundle, command: command)]
  }

  /// The error for an application without a model: with what was looked for, or with what cannot be read.
  package var nothing: BatchError {
    let damaged = problems.filter { $0.mapping == nil }
    let reasons = damaged.map { "\($0.place): \($0.reason)" }.joined(separator: "; ")
    return BatchError(
      .noModel,
      reasons.isEmpty
        ? "no data model is in this \(kind): no .xcdatamodeld, .xcdatamodel, .momd or .mom, and no class with @Model"
        : "no data model of this \(kind) can be read: \(reasons)",
      hint: reasons.isEmpty
        ? "Name the folder that has the application's sources, or its .app, .ipa or .xcarchive"
        : damaged.compactMap(\.hint).first ?? "Put a sound copy in its place",
      effect: .nothingWritten, path: path)
  }

  private func model(_ question: ApplicationQuestion) throws -> (model: Model, why: String) {
    if let bundle = question.bundle { return (try named(bundle, command: question.command), "as it was named") }
    guard let hashes = question.hashes else {
      guard models.count == 1 else { throw several(models, question) }
      return (models[0], "the only model")
    }
    let fitting = models.filter { ModelLibrary(bundles: [$0.bundle]).model(matching: hashes) != nil }
    // An older copy has fewer versions.
    let largest = fitting.filter { model in
      !fitting.contains {
        $0.place != model.place && model.bundle.isPart(of: $0.bundle) && !$0.bundle.isPart(of: model.bundle)
      }
    }
    guard largest.count < 2 else { throw several(largest, question) }
    guard let only = largest.first, let version = ModelLibrary(bundles: [only.bundle]).model(matching: hashes) else {
      throw none(hashes, question)
    }
    return (only, "whose version \(version.name) is the store's")
  }

  private func named(_ name: String, command: (String) -> String) throws -> Model {
    let found = models.filter { $0.place == name }
    let byName = found.isEmpty ? models.filter { $0.bundle.name == name || $0.file == name } : found
    guard byName.count == 1 else {
      let near = NearName.question(name, in: models.map(\.bundle.name))
      throw BatchError(
        .noModel, byName.isEmpty ? "no model is named \(name)\(near)" : "\(byName.count) models are named \(name)",
        hint: "Name one of them: \(commands(byName.isEmpty ? models : byName, command))", effect: .nothingWritten,
        path: path)
    }
    return byName[0]
  }

  private func several(_ models: [Model], _ question: ApplicationQuestion) -> BatchError {
    let what = question.hashes == nil ? "the \(kind) has" : "the store fits"
    return BatchError(
      .noModel, "\(what) \(models.count) models: \(models.map(\.place).joined(separator: ", "))",
      hint: "Name one of them: \(commands(models, question.command))", effect: .nothingWritten, path: path)
  }

  private func none(_ hashes: [String: [UInt8]], _ question: ApplicationQuestion) -> BatchError {
    let akin = models.filter { model in
      model.bundle.versions.contains { version in version.entities.contains { hashes[$0.name] != nil } }
    }
    let own = akin.isEmpty ? nil : question.own()
    let near = akin.map { model -> String in
      let nearest = ModelLibrary(bundles: [model.bundle]).nearest(to: hashes, like: own)
      return "\(model.place)\(nearest.map { ", nearest \($0.model.name)" } ?? "")"
    }
    let what = "no model of the \(kind) fits the store\(question.store.map { " \($0)" } ?? "")"
    guard !akin.isEmpty else {
      return BatchError(
        .noModel, "\(what), and none has an entity in common with it: the store is another application's",
        hint: "Name the application that wrote the store with --app", effect: .nothingWritten, path: path)
    }
    return BatchError(
      .noModel, "\(what): \(near.joined(separator: "; "))",
      hint: "Name another version of the application, or one of these models: \(commands(akin, question.command))",
      effect: .nothingWritten, path: path)
  }

  private func commands(_ models: [Model], _ command: (String) -> String) -> String {
    models.map { command(name(of: $0)) }.joined(separator: ", or ")
  }

  /// The name of a model, if no other one has it; else its path in the application.
  package func name(of model: Model) -> String {
    models.count { $0.bundle.name == model.bundle.name || $0.file == model.bundle.name } == 1
      ? model.bundle.name : model.place
  }

  private func note(_ model: Model, why: String, taken: [Int], replaced: [Int]) -> String {
    func list(_ places: [Int]) -> String {
      places.count > Self.mostListed
        ? places.count.counted("mapping model") : places.map { mappings[$0].place }.joined(separator: ", ")
    }
    var text = "\(path) has \(models.count.counted("model")), \(mappings.count.counted("mapping model")) and "
    text += policies.count.counted("policy", "policies")
    text += "; taken: \(model.place), \(why)" + (taken.isEmpty ? "" : ", with \(list(taken))")
    if !replaced.isEmpty { text += "; other mapping models stand in for \(list(replaced))" }
    let servers = mappings.filter { $0.model.destination != nil }.map(\.place)
    if !servers.isEmpty {
      text += "; not taken, because they name a server for the result: \(servers.joined(separator: ", "))"
    }
    return text + (problems.isEmpty ? "" : "; not read: " + problems.map(\.place).joined(separator: ", "))
  }
}

extension Application.Model {
  /// Its name with the extension.
  fileprivate var file: String { place.split(separator: "/").last.map(String.init) ?? place }
}
