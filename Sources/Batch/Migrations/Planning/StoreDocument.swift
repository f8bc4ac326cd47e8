import CoreDataModel
import CoreDataStore
import Foundation
import RunSupport
import Streams

/// A store that is named as a model: the model that it carries itself (B.2) is its only version.
package enum StoreDocument {
  /// Whether a path names a store, not a model: by what the file begins with.
  package static func isStore(_ path: String) throws -> Bool {
    let files = LocalFileSystem()
    guard let status = try files.status(path), status.isRegularFile else { return false }
    return try FileKind.isDatabase(path, files)
  }

  /// What versions of stores are named: after their files, without extension; where several files have one name, with
  /// as many folders before it as tell them apart.
  package static func names(_ paths: [String]) -> [String: String] {
    let parts = paths.map { path in
      Array(URL(fileURLWithPath: path).standardizedFileURL.deletingPathExtension().pathComponents.dropFirst())
    }
    let names = parts.map { own in
      let others = parts.filter { $0 != own }
      let count = (1...max(own.count, 1)).first { count in !others.contains { $0.suffix(count) == own.suffix(count) } }
      return own.suffix(count ?? own.count).joined(separator: "-")
    }
    return Dictionary(zip(paths, names)) { first, _ in first }
  }

  /// The model of a store, and of its bundle, under a name.
  ///
  /// - Throws: ``BatchError``: `noModel` if the store carries no model that is its own, and what ``SourceStore`` throws.
  static func bundle(_ path: String, name: String) throws -> ModelBundle {
    var model = try read(path) { cache in
      guard let model = cache.model else { throw refusal(path, cache.state) }
      return model
    }
    model.name = name
    return ModelBundle(path: path, name: model.name, versions: [model])
  }

  /// The same model as a file: the contents of a `.mom`, which is what a store carries.
  ///
  /// - Throws: ``BatchError`` as ``bundle(_:name:)`` does.
  package static func compiled(_ path: String) throws -> [UInt8] {
    try read(path) { cache in
      guard cache.model != nil, let content = cache.content else { throw refusal(path, cache.state) }
      return try ModelCache.archive(content)
    }
  }

  private static func read<Value>(_ path: String, _ body: (CachedModel) throws -> Value) throws -> Value {
    try BatchError.border {
      let reader = try open(path)
      defer { reader.close() }
      return try body(CachedModel(reader))
    }
  }

  /// Whoever has a lock on the store, be it this process's own run, does not change the model in the moment of a look;
  /// and a model that does not fit the store's hashes is not used.
  private static func open(_ path: String) throws -> StoreReader {
    do { return try SourceStore.opened(path, LocalFileSystem(), locking: .shared) } catch let error as StreamsError
      where error.code == .locked
    {
      return try SourceStore.opened(path, LocalFileSystem(), locking: .none)
    }
  }

  private static func refusal(_ path: String, _ state: String) -> BatchError {
    let why = state == "none" ? "it was written before iOS 9 or OS X 10.11, or by another program" : state
    return BatchError(
      .noModel, "the store carries no model that can be used: \(why)",
      hint: "Name the application's models instead: an .xcdatamodeld or a .momd", path: path)
  }
}
