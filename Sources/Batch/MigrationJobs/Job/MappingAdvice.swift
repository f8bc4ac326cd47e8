import Foundation
import Migrations
import RunSupport

/// Whole commands for errors about the mapping models and the target of a request.
struct MappingAdvice {
  let request: MigrationJob.Request
  let command: PlanningCommand
  let library: ModelLibrary
  let mappings: [PlanJudge.Mappings]

  /// The error with advice, where there is some.
  func told(_ error: BatchError) -> BatchError {
    switch error.code {
    case .badMapping: mapping(error)
    case .noModel: current(error)
    default: error
    }
  }

  private func mapping(_ error: BatchError) -> BatchError {
    let files = MappingFiles(mappings.flatMap(\.files))
    var told = error
    told.message = files.told(error.message)
    guard told.message == error.message else {
      return advised(told, "Name one of them", paths: files.single)
    }
    let partners = files.partners(in: library, of: request.replaced)
    guard !partners.isEmpty else { return error }
    return advised(
      error, "Name what makes the step together with them, too", paths: mappings.flatMap(\.files).map(\.file) + partners
    )
  }

  private func advised(_ error: BatchError, _ sentence: String, paths: [String]) -> BatchError {
    var error = error
    let words = ReplayCommand.words(
      request.arguments, source: absolute(request.source), output: request.output.map(absolute),
      mappings: paths.map(absolute))
    guard let words else {
      error.hint = "\(sentence): \(paths.joined(separator: ", "))"
      return error
    }
    let line = ProgramName.command(command.words(words))
    (error.hint, error.next) = ("\(sentence): \(line)", [line.line])
    return error
  }

  /// A model whose current version is none of its versions has no target that one need not name.
  private func current(_ error: BatchError) -> BatchError {
    guard request.target == .current, let bundle = library.bundles.first(where: { $0.lostVersion == error.message }),
      let last = bundle.versions.last,
      let words = ReplayCommand.words(
        request.arguments, source: absolute(request.source), output: request.output.map(absolute), restarts: false)
    else { return error }
    var error = error
    let line = ProgramName.command(command.words(words) + ["--to", last.name])
    let order = error.hint.map { $0 + ". " } ?? ""
    (error.hint, error.next) = ("\(order)Choose the current version in Xcode, or name the target: \(line)", [line.line])
    return error
  }

  private func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }
}
