import Batch
import Foundation
import Streams

/// One side of a comparison, as a person names it: `PATH`, `PATH:VERSION`, a store, or a version of `--models`.
struct ModelSide {
  /// How messages name it.
  let name: String
  let model: ManagedObjectModel
  /// The path of a store; nil for a model.
  private(set) var store: String?
  /// The versions beside which it was found, if its path alone names them.
  private(set) var library: ModelLibrary?

  /// Reads a side. What the library names its versions is one of them. A folder or a file of Swift is a model, by default its current version; another file is a store,
  /// whose model is found by hashes.
  init(_ argument: String, library: ModelLibrary?) throws {
    let files = LocalFileSystem()
    if let library, library.names.contains(argument), try files.status(argument) == nil {
      model = try library.target(named: argument)
      name = model.name
      return
    }
    if ModelFormats.format(of: argument) == nil, let status = try files.status(argument), !status.isDirectory {
      let reader = try SourceStore.open(argument, files, locking: .shared)
      defer { reader.close() }
      Console.tellRecovery(reader)
      model = try StoreModel.find(of: reader, in: library)
      let isKnown = library?.model(matching: model.versionHashes) != nil
      name = "\(argument) (\(isKnown ? model.name : "its own model"))"
      store = argument
      return
    }
    // A path may hold a colon itself: what exists is a path.
    var (path, version): (String, String?) = (argument, nil)
    if try files.status(argument) == nil, let colon = argument.lastIndex(of: ":") {
      path = String(argument[..<colon])
      version = String(argument[argument.index(after: colon)...])
    }
    let found = try ModelLibrary(paths: [path])
    model = try found.target(named: version)
    self.library = found
    name = model.name
  }
}
