import Foundation
import Streams

/// A disk over a folder of the machine's own, which counts the changes, refuses some, and forgets what was not synced.
///
/// Calls below `root` go to the real files, so that programs that do not use ``FileSystem`` (SQLite above all) see
/// them; what those write counts as durable. Calls elsewhere are passed on uncounted. After a kill or a power loss
/// every call fails, until ``restart()`` gives the folder what the disk has. A directory's own renames count as durable
/// at once.
package final class SimulatedDisk: FileSystem, @unchecked Sendable {
  package let root: String
  private let base = LocalFileSystem()
  private let lock = NSRecursiveLock()
  private let holds: String
  private var random: DiskRandom
  private var faults: [Int: SimulatedFault]
  private var nodes: [UInt64: SimulatedNode] = [:]
  private var names = SimulatedNames()
  private var end: SimulatedFault?
  private var recorded: [String] = []

  /// A disk for everything below `root`, an absolute path without symbolic links. `faults` are for changes of these
  /// numbers.
  package init(_ root: String, seed: UInt64 = 0, faults: [Int: SimulatedFault] = [:]) throws {
    self.root = root
    self.faults = faults
    random = DiskRandom(seed: seed)
    holds = root + ".\(UUID().uuidString).holds"
    try base.makeDirectory(holds)
  }

  deinit { try? FileManager.default.removeItem(atPath: holds) }

  /// "verb name" of every change since the beginning or the last restart, in order.
  package var events: [String] { lock.withLock { recorded } }
  /// Did the process or the machine end?
  package var isDown: Bool { lock.withLock { end != nil } }

  /// The process that comes after, on what the disk has by then; with faults of its own.
  package func restart(faults: [Int: SimulatedFault] = [:]) throws {
    try lock.withLock {
      if case .powerLoss = end {
        let survival = Survival.allCases[random.below(Survival.allCases.count)]
        try materialize(names.surviving(survival, &random))
        for inode in nodes.keys.sorted() { try nodes[inode]?.losePower(survival, &random) }
      } else {
        for node in nodes.values { try node.forgetLost() }
      }
      for node in nodes.values { try base.remove(node.hold) }
      (nodes, names, recorded, self.faults, end) = ([:], SimulatedNames(), [], faults, nil)
    }
  }

  /// Gives names what they lead to on the disk: directories from the top, then files.
  private func materialize(_ entries: [String: SimulatedEntry?]) throws {
    for path in entries.keys.sorted() {
      let found = try entry(path)
      guard let wanted = entries[path], wanted != found else { continue }
      if found == .directory { try FileManager.default.removeItem(atPath: path) }
      if case .file = found { try base.remove(path) }
      if wanted == .directory, try base.status(FilePaths.directory(of: path)) != nil { try base.makeDirectory(path) }
    }
    for (path, entry) in entries {
      guard case .file(let inode)? = entry, let node = nodes[inode], try self.entry(path) == nil,
        try base.status(FilePaths.directory(of: path)) != nil
      else { continue }
      try base.link(node.hold, to: path)
    }
  }

  private func entry(_ path: String) throws -> SimulatedEntry? {
    try base.statusOfName(path).map { $0.isDirectory ? .directory : .file(inode: $0.inode) }
  }

  private func isInside(_ path: String) -> Bool { path.hasPrefix(root + "/") || path == root }

  /// Keeps a file alive, and what is known about its bytes.
  private func node(_ path: String) throws -> SimulatedNode? {
    guard let status = try base.statusOfName(path), !status.isDirectory else { return nil }
    if let known = nodes[status.inode] { return known }
    let node = SimulatedNode(hold: "\(holds)/\(status.inode)", size: status.size)
    try base.link(path, to: node.hold)
    nodes[status.inode] = node
    return node
  }

  private static let death = StreamsError(.inputOutput, "the process ended here")

  /// Counts a change and does it, unless a fault says otherwise; `failing` is what happens instead when the call fails.
  func change<Result>(
    _ verb: String, _ path: String, failing: (SimulatedFault) throws -> Void = { _ in }, _ call: () throws -> Result
  ) throws -> Result {
    try lock.withLock {
      guard end == nil else { throw Self.death }
      guard isInside(path) else { return try call() }
      recorded.append("\(verb) \(FilePaths.name(of: path))")
      let fault = faults[recorded.count]
      switch fault {
      case .kill(.before), .powerLoss(.before):
        end = fault
        throw Self.death
      case .failure(let code):
        try failing(.failure(code))
        throw StreamsError(code, "cannot \(verb): simulated", path: path, hint: "Start again")
      case .shortWrite:
        try failing(.shortWrite)
        throw StreamsError(.diskFull, "cannot \(verb): simulated", path: path, hint: "Free space and start again")
      case .kill(.after), .powerLoss(.after), nil: break
      }
      let result = try call()
      guard fault == nil else {
        end = fault
        throw Self.death
      }
      return result
    }
  }

  /// A call that changes nothing.
  func look<Result>(_ call: () throws -> Result) throws -> Result {
    try lock.withLock {
      guard end == nil else { throw Self.death }
      return try call()
    }
  }

  package func open(_ path: String, _ mode: OpenMode) throws -> any File {
    if case .read = mode { return SimulatedFile(try look { try base.open(path, mode) }, nil, self) }
    return try change("open", path) {
      guard isInside(path) else { return try base.open(path, mode) }
      let before = try node(path)
      if case .create = mode, before != nil {
        let file = try base.open(path, .update)
        try before?.willTruncate(file, to: 0)
        file.close()
      }
      let file = try base.open(path, mode)
      if before == nil, let made = try node(path), let entry = try entry(path) {
        names.change([(path, entry)]) { _ in nil }
        return SimulatedFile(file, made, self)
      }
      return SimulatedFile(file, before, self)
    }
  }

  package func rename(_ source: String, to destination: String) throws {
    try change("rename", destination) {
      guard isInside(source), try base.statusOfName(source)?.isDirectory == false else {
        return try base.rename(source, to: destination)
      }
      for path in [source, destination] { _ = try node(path) }
      let (from, to) = (try entry(source), try entry(destination))
      try base.rename(source, to: destination)
      names.change([(destination, from), (source, nil)]) { $0 == source ? from : to }
    }
  }

  package func link(_ source: String, to destination: String) throws {
    try change("link", destination) {
      try base.link(source, to: destination)
      guard isInside(destination) else { return }
      _ = try node(destination)
      names.change([(destination, try entry(destination))]) { _ in nil }
    }
  }

  package func remove(_ path: String) throws {
    try change("remove", path) {
      let found = try entry(path)
      if isInside(path) { _ = try node(path) }
      try base.remove(path)
      if isInside(path), found != nil { names.change([(path, nil)]) { _ in found } }
    }
  }

  package func makeDirectory(_ path: String) throws {
    try change("makeDirectory", path) {
      let found = try entry(path)
      try base.makeDirectory(path)
      if isInside(path), found == nil { names.change([(path, .directory)]) { _ in nil } }
    }
  }

  package func removeDirectory(_ path: String) throws {
    try change("removeDirectory", path) {
      let found = try entry(path)
      try base.removeDirectory(path)
      if isInside(path), found != nil { names.change([(path, nil)]) { _ in found } }
    }
  }

  package func syncDirectory(_ path: String) throws {
    try change("syncDirectory", path) { names.didSync(directory: path) }
  }

  package func adopt(_ status: FileStatus, on path: String) throws {
    try change("adopt", path) {
      try base.adopt(status, on: path)
      if isInside(path) { nodes[try base.status(path)?.inode ?? 0]?.didSync(size: try base.status(path)?.size ?? 0) }
    }
  }

  // Of a simulated directory no other ever gets the name.
  package func hold(_ path: String) throws -> HeldDirectory { try look { HeldDirectory(path: path) } }
  package func list(_ path: String) throws -> [String] { try look { try base.list(path) } }
  package func status(_ path: String) throws -> FileStatus? { try look { try base.status(path) } }
  package func statusOfName(_ path: String) throws -> FileStatus? { try look { try base.statusOfName(path) } }
  package func availableSpace(_ path: String) throws -> UInt64 { try look { try base.availableSpace(path) } }
}
