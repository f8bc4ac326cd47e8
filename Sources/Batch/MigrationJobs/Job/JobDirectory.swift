import CoreDataStore
import Glibc
import RunSupport
import Streams

/// Where a run keeps everything of its own: a directory beside the destination, so that a rename can put the finished
/// store in place.
///
/// For the destination `/x/Foo.sqlite` it is `/x/.Foo.sqlite.godwit`. The layout is described in FORMAT.md.
public struct JobDirectory: Sendable, Equatable {
  /// The destination: absolute, with symbolic links resolved, since a rename over a link would replace the link.
  public let destination: String
  /// The directory.
  public internal(set) var path: String
  /// The path by which a person names the run in a command.
  let store: String
  /// Grows when an owner on another machine is replaced: what the run writes has other names then, see
  /// ``succeeding(_:)``.
  private(set) var generation = 1

  /// Derives the directory from the destination. Nothing is made; the destination's own directory must exist.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public init(destination: String) throws {
    self.destination = try Self.resolve(destination)
    try SourceStore.refuseNoFile(destination, LocalFileSystem())
    let directory = FilePaths.directory(of: self.destination)
    store = self.destination
    path = FilePaths.join(directory, "." + FilePaths.name(of: self.destination) + ".godwit")
  }

  /// A directory for what has no destination of its own: `.NAME.godwit` in a folder that nobody else uses, about a
  /// store. Nothing is made.
  package init(named name: String, in folder: String, of store: String) {
    self.store = store
    destination = FilePaths.join(folder, name)
    path = FilePaths.join(folder, ".\(name).godwit")
  }

  /// What a folder `.NAME` and `suffix` is made for, which stands beside it; nil for a folder with another name.
  package static func destination(ofFolder path: String, suffix: String) -> String? {
    let name = FilePaths.name(of: path)
    guard name.hasPrefix("."), name.hasSuffix(suffix), name.utf8.count > suffix.utf8.count + 1 else { return nil }
    return FilePaths.join(FilePaths.directory(of: path), String(name.dropFirst().dropLast(suffix.count)))
  }

  /// The plan of the run.
  public var plan: String { file("plan.json") }
  /// The lease that the running process holds.
  public var lease: String { file("lease") }
  /// What happened, line by line.
  public var log: String { file("log") }
  /// The journal of the cut-over; present only while one is under way.
  public var cutOver: String { file(generation == 1 ? "cutover.json" : "cutover.\(generation).json") }
  /// The directory of the checkpoints.
  public var checkpoints: String { file(generation == 1 ? Self.checkpoints : "\(Self.checkpoints).\(generation)") }
  /// The directory of the models that the plan refers to.
  public var models: String { file("models") }
  /// The directory of the mapping models that the plan refers to.
  public var mappings: String { file("mappings") }
  /// The store that is being built.
  public var newStore: String { file("store.sqlite") }

  /// The copy of a source with a hot rollback journal, recovered; and the one that a comparison makes.
  public var recovered: String { working("recovered") }
  var recoveredAgain: String { working("recovered-again") }

  /// Why the run ended, if it would end the same way again.
  package var failure: String { working("failure.json") }

  /// What others ask of the process that runs the job, and how far that says it is.
  var control: String { file("control.json") }
  var progress: String { working("progress.json") }
  /// What the run writes down for its report; and what stays of that, beside the store, when the directory goes.
  package var history: String { working("history.jsonl") }
  package var record: String { path + "-report" }

  /// A name in the directory.
  public func file(_ name: String) -> String { FilePaths.join(path, name) }

  /// A file that only an owner of this generation writes.
  func working(_ name: String) -> String { file(generation == 1 ? name : "g\(generation).\(name)") }

  private static let checkpoints = "checkpoints"

  /// The same directory in the generation that it is in. Nothing is written.
  package func current(_ fileSystem: any FileSystem) throws -> JobDirectory {
    guard try exists(fileSystem) else { return self }
    var current = self
    current.generation =
      try fileSystem.listIfThere(path).compactMap { name in
        name.hasPrefix(Self.checkpoints + ".") ? Int(name.dropFirst(Self.checkpoints.count + 1)) : nil
      }
      .filter { $0 > 1 && $0 < .max }.max() ?? 1
    return current
  }

  /// The generation before, whose names are another owner's.
  var preceding: JobDirectory {
    var before = self
    before.generation -= 1
    return before
  }

  /// Begins the next generation, durably: an owner that does not know of it finds none of its checkpoints any longer.
  func succeeding(_ fileSystem: any FileSystem) throws -> JobDirectory {
    var next = self
    next.generation += 1
    try fileSystem.rename(checkpoints, to: next.checkpoints)
    try fileSystem.syncDirectory(path)
    return next
  }

  /// Makes the directory (mode 0700) and its subdirectories, durably. Existing ones are kept.
  ///
  /// - Throws: ``BatchError``: `refused` when something else is in its place, a symbolic link above all: whoever may
  ///   write to the destination's directory could lead the run's files elsewhere.
  public func create(_ fileSystem: any FileSystem) throws {
    if try !exists(fileSystem) { try fileSystem.makeDirectory(path) }
    for directory in [checkpoints, models, mappings] { try fileSystem.makeDirectory(directory) }
    try fileSystem.syncDirectory(path)
    try fileSystem.syncDirectory(FilePaths.directory(of: path))
  }

  /// Whether there is a job directory. Nothing is written.
  ///
  /// - Throws: ``BatchError``: `refused` if what is there is no directory of this user.
  public func exists(_ fileSystem: any FileSystem) throws -> Bool {
    guard let status = try fileSystem.statusOfName(path) else { return false }
    guard status.isDirectory else {
      throw BatchError(
        .refused, "a \(status.isSymbolicLink ? "symbolic link" : "file") is in the place of the job directory",
        hint: "Look at it, and remove it if nobody needs it", path: path)
    }
    guard status.owner == geteuid() else {
      let giveUp = ProgramName.command("clean", "--all", destination)
      throw BatchError(
        .refused, "the job directory belongs to user \(status.owner)",
        hint: "Run as that user; \(giveUp) gives a run up",
        next: [giveUp.line], path: path)
    }
    return true
  }

  /// Throws `refused` when a symbolic link lies in the directory: no run makes one, and what is written through it
  /// would be elsewhere.
  func refuseLinks(_ fileSystem: any FileSystem) throws { try Self.refuseLinks(in: path, fileSystem) }

  static func refuseLinks(in folder: String, _ fileSystem: any FileSystem) throws {
    for path in try fileSystem.list(folder).map({ FilePaths.join(folder, $0) })
    where try fileSystem.statusOfName(path)?.isSymbolicLink == true {
      throw BatchError(
        .refused, "a symbolic link lies in the job directory",
        hint: "Look at it, and remove it with `\(ShellWords.line(["rm", path]))`", path: path)
    }
  }

  /// An absolute path without symbolic links. The file itself may be missing, its directory may not.
  package static func resolve(_ path: String) throws -> String {
    let name = FilePaths.name(of: path)
    for _ in 0..<mostLooks {
      if let whole = realPath(path) { return whole }
      guard errno == ENOENT, !name.isEmpty, name != ".", name != ".." else { throw unresolvable(path) }
      switch try LocalFileSystem().statusOfName(path)?.isSymbolicLink {
      case false?: continue  // It has come since: another run's cut-over.
      case true?: throw unresolvable(path)  // What a link that leads nowhere names must not be made elsewhere.
      case nil:
        guard let directory = realPath(FilePaths.directory(of: path)) else { throw unresolvable(path) }
        return FilePaths.join(directory, name)
      }
    }
    throw unresolvable(path)
  }

  private static let mostLooks = 64

  private static func realPath(_ path: String) -> String? {
    guard let found = realpath(path, nil) else { return nil }
    defer { free(found) }
    return String(cString: found)
  }

  private static func unresolvable(_ path: String) -> BatchError {
    BatchError(
      .refused, "the path leads nowhere: \(String(cString: strerror(errno)))",
      hint: "Check its spelling; the directory of a destination must exist", path: path)
  }
}

extension FileSystem {
  /// The names in a directory that others may remove at any moment, sorted; none where it has gone.
  func listIfThere(_ path: String) throws -> [String] {
    do { return try list(path) } catch {
      guard try statusOfName(path) != nil else { return [] }
      throw error
    }
  }
}
