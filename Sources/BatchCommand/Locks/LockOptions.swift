import ArgumentParser
import Batch
import Foundation
import Streams

/// The sources of a model and the lock of its versions.
struct LockOptions: ParsableArguments {
  @Argument(help: .models, completion: .models) var models: [String]

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The lock. Default: schema.lock beside the first model, and in it if that is the current folder or a package.",
      valueName: "path"),
    completion: .file())
  var lock: String?

  @OptionGroup var swift: SwiftOptions

  /// The path of the lock.
  var path: String {
    if let lock { return lock }
    let source = Self.present(models.first ?? ".")
    let url = URL(fileURLWithPath: source).standardizedFileURL
    let isWhole =
      FileManager.default.fileExists(atPath: url.path + "/Package.swift")
      || url.path == URL(fileURLWithPath: FileManager.default.currentDirectoryPath).standardizedFileURL.path
    if isWhole { return FilePaths.join(source, SchemaLock.fileName) }
    guard source.contains("/") else { return SchemaLock.fileName }
    return FilePaths.join((source as NSString).deletingLastPathComponent, SchemaLock.fileName)
  }

  /// The path of the files as they are, of one that may be in a commit.
  private static func present(_ path: String) -> String {
    guard !FileManager.default.fileExists(atPath: path), let at = path.lastIndex(of: "@") else { return path }
    return String(path[..<at])
  }

  /// The one model at the paths.
  func bundle() throws -> ModelBundle {
    let bundles = try ModelLibrary(paths: models).bundles
    guard bundles.count == 1, let bundle = bundles.first else {
      let names = bundles.map(\.path).joined(separator: ", ")
      throw BatchError(
        .noModel, "a lock is of one model, and there are \(bundles.count): \(names)",
        hint: "Name one of them, and give each a lock of its own with --lock")
    }
    for version in bundle.versions {
      do { try version.validate() } catch var error as BatchError {
        error.message = "\(version.name): \(error.message)"
        error.path = error.path ?? bundle.path
        throw error
      }
    }
    return bundle
  }

  /// A command on these models and this lock.
  func command(_ name: String, _ more: [String] = []) -> AdvisedCommand {
    ProgramName.command([name] + models + more + (lock.map { ["--lock", $0] } ?? []) + swift.arguments)
  }
}
