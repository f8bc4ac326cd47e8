import Batch
import Streams

/// `diff --contents`: opens both stores, and shows what differs while it is found.
struct ContentsComparison {
  private let paths: (old: String, new: String)
  private let options: ContentsOptions
  private let json: Bool

  init(_ old: String, _ new: String, options: ContentsOptions, json: Bool) {
    (paths, self.options, self.json) = ((old, new), options, json)
  }

  func run(_ library: ModelLibrary?) throws {
    if let html = options.html { try OutputPath("--html", html).check([paths.old, paths.new]) }
    let files = LocalFileSystem()
    let isOne = try Self.isOne(paths.old, paths.new, in: files)
    let old = try Self.open(paths.old, files, isShared: isOne)
    defer { old.close() }
    let new = try Self.open(paths.new, files, isShared: isOne)
    defer { new.close() }
    var compared = ContentsDifference.Options()
    (compared.entity, compared.key) = (options.entity, options.by)
    compared.memory = MemoryBudget(total: Int(clamping: options.memory.bytes))
    let difference = ContentsDifference(
      from: old, to: new, models: try models(of: old, new, library), options: compared, fileSystem: files)
    let page = try options.html.map { try ContentsPage($0, old: paths.old, new: paths.new, limit: options.limit) }
    let text = ContentsText(paths.old, paths.new, json: json)
    var listed: UInt64 = 0
    let display = ProgressDisplay(ProgressMode.auto.resolved(json: false))
    defer { display.end() }
    let summary = try difference.run { change in
      try page?.add(change)
      guard listed < options.limit ?? .max else { return }
      listed += 1
      try display.above { try text.write(change) }
    } progress: { rows, fraction in
      display.show(MigrationProgress(fraction: fraction, rows: rows, seconds: display.seconds))
    }
    display.end()
    try text.end(summary, listed: listed)
    try page?.write(summary)
  }

  private static func isOne(_ old: String, _ new: String, in files: LocalFileSystem) throws -> Bool {
    guard let first = try files.status(old), let second = try files.status(new) else { return false }
    return (first.device, first.inode) == (second.device, second.inode)
  }

  /// Nobody may write to either while they are read. One store cannot be taken twice for itself alone.
  private static func open(_ path: String, _ files: LocalFileSystem, isShared: Bool) throws -> StoreReader {
    let reader = try isShared ? SourceStore.open(path, files, locking: .shared) : StoreExport.open(path, files)
    Console.tellRecovery(reader)
    return reader
  }

  /// Nil if the model of either is not known: then columns are named.
  private func models(
    of old: StoreReader, _ new: StoreReader, _ library: ModelLibrary?
  ) throws -> (old: ManagedObjectModel, new: ManagedObjectModel)? {
    if let library { return (try StoreModel.find(of: old, in: library), try StoreModel.find(of: new, in: library)) }
    guard let left = try? StoreModel.find(of: old, in: nil), let right = try? StoreModel.find(of: new, in: nil) else {
      Console.note("the model of a store is not known, so columns are named: give --models for names of properties")
      return nil
    }
    return (left, right)
  }
}
