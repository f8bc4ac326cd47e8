import Foundation
import Glibc
import RunSupport
import Streams

/// Finds the job of a path that a person names: the destination, or the source when the destination lies elsewhere.
///
/// A job directory is found beside its destination without help. For a source there is one small file per job in a
/// directory of the user. These files are a convenience: losing them loses no run.
public struct JobRegistry: Sendable {
  /// The directory of the entries; nil if the user has no place for it. A run to another path is then found by its
  /// output alone.
  public let directory: String?
  private let fileSystem: any FileSystem

  private struct Entry: Codable {
    var format: Int
    var source: String
    /// The job directory follows from it, so that an entry cannot lead anywhere else.
    var destination: String
    /// Those of runs of this source that began before and are not over.
    var earlier: [String]?

    /// All of them, the newest first.
    var destinations: [String] { [destination] + (earlier ?? []) }
  }

  /// Runs of one source that are remembered.
  private static let mostRuns = 64

  /// Uses a directory; it is made when the first entry is written.
  public init(_ fileSystem: any FileSystem, directory: String? = nil) {
    self.fileSystem = fileSystem
    // All variables together are many, and this is asked for several times a store.
    self.directory =
      directory ?? Self.defaultDirectory(home: Self.homeOfUser) { getenv($0).map { String(cString: $0) } }
  }

  /// `$GODWIT_STATE/jobs`, else `$XDG_STATE_HOME/godwit/jobs`, else `$HOME/.local/state/godwit/jobs`. Without `HOME` it
  /// is the home directory of the password database, where that is a directory; else there is none.
  public static func defaultDirectory(_ environment: [String: String]) -> String? {
    defaultDirectory(home: homeOfUser) { environment[$0] }
  }

  static func defaultDirectory(home: () -> String?, variable: (String) -> String?) -> String? {
    func value(_ name: String) -> String? { variable(name).flatMap { $0.isEmpty ? nil : $0 } }
    if let own = value("GODWIT_STATE") { return FilePaths.join(own, "jobs") }
    // The XDG rule: a relative path there is ignored.
    if let state = value("XDG_STATE_HOME"), state.hasPrefix("/") { return FilePaths.join(state, "godwit/jobs") }
    return (value("HOME") ?? home()).map { FilePaths.join($0, ".local/state/godwit/jobs") }
  }

  /// Services and jobs of cron may run without `HOME`.
  private static func homeOfUser() -> String? {
    var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
    var texts = [CChar](repeating: 0, count: 1 << 14)
    guard getpwuid_r(geteuid(), &entry, &texts, texts.count, &found) == 0, found != nil, let home = entry.pw_dir else {
      return nil
    }
    let path = String(cString: home)
    var isFolder: ObjCBool = false
    return path.hasPrefix("/") && FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
      && isFolder.boolValue
      ? path : nil
  }

  /// The job of a destination or of a source, or nil. Nothing is written. An entry whose job is gone counts as none.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public func find(_ path: String) throws -> JobDirectory? {
    // Where there is no folder there is no job.
    guard try LocalFileSystem().status(FilePaths.directory(of: path))?.isDirectory == true else { return nil }
    let beside = try JobDirectory(destination: path)
    if try beside.exists(fileSystem) { return try beside.current(fileSystem) }
    let source = beside.destination
    if let output = XMLCopy.output(of: source), case let job = try JobDirectory(destination: output),
      try job.exists(fileSystem)
    {
      return try job.current(fileSystem)
    }
    guard let path = entryPath(source), let entry = try entry(at: path, of: source) else { return nil }
    return try entry.destinations.lazy.compactMap(living).first?.current(fileSystem)
  }

  /// The job of a destination, if it is there.
  private func living(_ destination: String) -> JobDirectory? {
    guard let job = try? JobDirectory(destination: destination), (try? job.exists(fileSystem)) != false else {
      return nil
    }
    return job
  }

  /// What an entry says; nil if there is none of the source.
  private func entry(at path: String, of source: String) throws -> Entry? {
    guard try fileSystem.status(path) != nil else { return nil }
    let bytes = try fileSystem.readAll(path, cap: 1 << 20)
    return (try? JSONDecoder().decode(Entry.self, from: Data(bytes))).flatMap { $0.source == source ? $0 : nil }
  }

  /// Writes down that this source is being migrated by that job, if it cannot be found otherwise.
  ///
  /// A failure must not end a run, so it is returned instead of thrown: log it.
  @discardableResult public func record(source: String, job: JobDirectory) -> (any Error)? {
    do {
      let source = try JobDirectory.resolve(source)
      guard source != job.destination else { return nil }
      guard let directory, let path = entryPath(source) else {
        throw BatchError(
          .failed, "the user has no state directory, so this run is found by its output alone",
          hint: "Set GODWIT_STATE to a folder", path: source)
      }
      try makeDirectories(directory)
      let before = try entry(at: path, of: source)?.destinations ?? []
      try write([job.destination] + others(before, than: job), of: source, to: path)
      return nil
    } catch {
      return error
    }
  }

  /// Notes that a program of this name has begun runs with policies of its own: advice may name it from then on. Without
  /// the note nothing is lost but that.
  func record(program name: String) {
    guard let directory, let path = path(ofProgram: name), !knows(program: name) else { return }
    try? makeDirectories(directory)
    try? fileSystem.writeDurably(Array(name.utf8), to: path)
  }

  /// Whether a program of this name has begun such runs on this machine, for this user.
  func knows(program name: String) -> Bool {
    path(ofProgram: name).flatMap { try? fileSystem.status($0) } != nil
  }

  private func path(ofProgram name: String) -> String? {
    guard name.first?.isLetter == true,
      name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) })
    else { return nil }
    return directory.map { FilePaths.join($0, name + ".program") }
  }

  /// Forgets that this source is being migrated by that job, and not what another job of it has written down. A failure
  /// is returned, not thrown.
  @discardableResult public func forget(source: String, job: JobDirectory) -> (any Error)? {
    do {
      let source = try JobDirectory.resolve(source)
      guard let path = entryPath(source), let entry = try entry(at: path, of: source),
        entry.destinations.contains(job.destination)
      else { return nil }
      let rest = others(entry.destinations, than: job)
      if rest.isEmpty { try fileSystem.remove(path) } else { try write(rest, of: source, to: path) }
      return nil
    } catch {
      return error
    }
  }

  private func others(_ destinations: [String], than job: JobDirectory) -> [String] {
    Array(destinations.filter { $0 != job.destination && living($0) != nil }.prefix(Self.mostRuns))
  }

  private func write(_ destinations: [String], of source: String, to path: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    let earlier = destinations.count > 1 ? Array(destinations.dropFirst()) : nil
    let entry = Entry(format: 1, source: source, destination: destinations[0], earlier: earlier)
    try fileSystem.writeDurably(Array(try encoder.encode(entry)), to: path)
  }

  private func entryPath(_ source: String) -> String? {
    directory.map { FilePaths.join($0, Self.hex(source) + ".json") }
  }

  /// FNV-1a, 64 bits, over the path's bytes; the entry itself says which source it is for.
  package static func hex(_ path: String) -> String {
    let hash = path.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  private func makeDirectories(_ directory: String) throws {
    var missing: [String] = []
    var next = directory
    while next != "/", next != ".", try fileSystem.status(next) == nil {
      missing.append(next)
      next = FilePaths.directory(of: next)
    }
    for path in missing.reversed() { try fileSystem.makeDirectory(path) }
  }
}
