import CoreDataModel
import Foundation
import RunSupport
import Streams
import Synchronization

/// Model libraries that the process has read before, for many stores with the same models.
package enum KnownLibraries {
  private enum Seen: Hashable {
    case file(String, FileStatus?)
    /// What a ``ModelFormat`` says of paths.
    case mark(String)
  }

  private enum Source {
    case store(String, name: String)
    case model(ModelSource)
  }

  private static let deepest = 8
  private static let known = Memo<[Seen], ModelLibrary>(limit: 4)
  private static let listings = Memo<Seen, [String]>(limit: 1024)
  private static let trusted = Mutex<Trusted>(Trusted())

  /// What a process that serves one store after the other has just seen.
  private struct Trusted {
    /// Seconds for which a look at the files holds.
    var seconds = 0.0
    var paths: [String] = []
    var library: ModelLibrary?
    var until: ContinuousClock.Instant?
  }

  /// The library of the models at these paths. Xcode's are read again when a file of them is another one than it was: by
  /// size, time of change and inode. So are stores. Others are when their mark differs. Throws ``BatchError`` as the
  /// readers of models do.
  static func library(_ paths: [String]) throws -> ModelLibrary {
    if let library = trusted.withLock({ $0.paths == paths && $0.until.map { $0 > .now } == true ? $0.library : nil }) {
      return library
    }
    let begin = ContinuousClock.now
    let sources = try sources(paths)
    let library = try known.value(try sources.flatMap(seen)) { ModelLibrary(bundles: try sources.flatMap(bundles)) }
    trusted.withLock { trusted in
      guard trusted.seconds > 0 else { return }
      (trusted.paths, trusted.library, trusted.until) = (paths, library, begin + .seconds(trusted.seconds))
    }
    return library
  }

  /// A look at the files of models holds for so many seconds: the stores of a list would have a hundred versions looked
  /// at for each of them.
  package static func trust(for seconds: Double) { trusted.withLock { $0.seconds = seconds } }

  /// Nobody will ask soon.
  static func forget() {
    known.forget()
    trusted.withLock { $0.library = nil }
  }

  private static func sources(_ paths: [String]) throws -> [Source] {
    let stores = StoreDocument.names(try paths.filter(StoreDocument.isStore))
    var models = try ModelReader.sources(paths.filter { stores[$0] == nil }).makeIterator()
    return paths.flatMap { path in
      stores[path].map { [.store(path, name: $0)] } ?? (models.next() ?? []).map(Source.model)
    }
  }

  private static func bundles(_ source: Source) throws -> [ModelBundle] {
    switch source {
    case .store(let path, let name): [try StoreDocument.bundle(path, name: name)]
    case .model(let model): try model.bundles()
    }
  }

  private static func seen(_ source: Source) throws -> [Seen] {
    let disk = LocalFileSystem()
    switch source {
    // What a store says may be in its log.
    case .store(let path, let name):
      return try [.mark(name)] + ["", "-wal", "-journal"].map { .file(path + $0, try disk.status(path + $0)) }
    case .model(.document(let path)): return try seen(path, depth: 0)
    case .model(.others(let paths, let format)): return [.mark(try format.mark(of: paths))]
    }
  }

  private static func seen(_ path: String, depth: Int) throws -> [Seen] {
    let disk = LocalFileSystem()
    let status = try disk.status(path)
    guard status?.isDirectory == true, depth < deepest else { return [.file(path, status)] }
    return try names(in: path, status).flatMap { try seen(FilePaths.join(path, $0), depth: depth + 1) }
  }

  /// What a folder holds that is as it was a second ago: it would have another time of change with other names.
  private static func names(in path: String, _ status: FileStatus?) throws -> [String] {
    let list = { try LocalFileSystem().list(path) }
    guard let status, Double(status.modified) / 1e9 < Date().timeIntervalSince1970 - 1 else { return try list() }
    return try listings.value(.file(path, status), make: list)
  }
}
