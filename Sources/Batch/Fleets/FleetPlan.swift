import Codecs
import Foundation
import RunSupport
import Streams

/// Which stores are migrated, by which task, and how: made once, and from then on only read. FORMAT.md, section 9.1.
public struct FleetPlan: Sendable, Codable, Equatable {
  /// A store of the fleet. Its number is its place in ``FleetPlan/stores``.
  public struct Store: Sendable, Codable, Equatable {
    /// The store, absolute.
    public var path: String
    /// Where the result goes, absolute; nil replaces the store.
    public var output: String?
    /// Bytes of the database, its log included; 0 where it could not be looked at.
    public var bytes: UInt64 = 0
    /// Objects; nil if they cannot be counted.
    public var rows: UInt64?
    /// Whether ``rows`` is an estimate from a sample of pages.
    public var isEstimate = false
    /// The version by its hashes; nil if no model fits.
    public var version: String?
    /// Why the store could not be looked at: it ends as failed with these words.
    public var problem: String?
    /// The exit code that goes with ``problem``.
    public var problemCode: Int32?
    /// The task whose store it is, from 0.
    public var shard = 0

    /// The path that has the result in the end.
    public var target: String { output ?? path }

    /// A store that nobody has looked at.
    public init(path: String, output: String? = nil) { (self.path, self.output) = (path, output) }
  }

  private static let known = 1
  /// More than any list of stores has that one plan can balance; read before it is known to be a plan.
  private static let cap = 256 << 20
  /// Tasks that a plan may have.
  public static let mostTasks = 10_000

  /// Grows when a key changes its meaning.
  public var format = known
  /// SHA-256 of all the rest as canonical JSON, in hexadecimal.
  public private(set) var id = ""
  /// Tasks that the stores are balanced over.
  public var tasks: Int
  /// The options of every migration, paths absolute.
  public var options: [String]
  /// ``FleetInputs/digest(_:_:)`` of the models and all else that the options name.
  public var models: String
  /// The stores, in the order in which they were named.
  public var stores: [Store]

  /// Balances stores over tasks: the longest first, each to the task that has least.
  ///
  /// - Throws: ``BatchError``: `refused` for what no plan can be.
  public init(_ stores: [Store], tasks: Int, options: [String], models: String) throws {
    (self.tasks, self.options, self.models, self.stores) = (tasks, options, models, stores)
    try check(path: nil)
    for (place, shard) in FleetBalance.shards(stores.map { $0.bytes + 1 }, tasks: tasks).enumerated() {
      self.stores[place].shard = shard
    }
    id = try digest()
  }

  /// Reads a plan.
  ///
  /// - Throws: ``BatchError``: `refused` if the file is none, or is not what `plan` wrote; and what the disk throws.
  public init(path: String, _ fileSystem: any FileSystem = LocalFileSystem()) throws {
    do {
      let bytes = try fileSystem.readAll(path, cap: Self.cap)
      do {
        self = try JSONDecoder().decode(FleetPlan.self, from: Data(bytes))
      } catch {
        throw Self.refused("this is no plan of a fleet", path, cause: error)
      }
      guard format == Self.known else {
        throw Self.refused("the plan has format \(format), and this program knows 1", path)
      }
      guard id == (try digest()) else {
        throw Self.refused("the plan was changed since it was made: its id is not that of its contents", path)
      }
      try check(path: path)
    } catch { throw BatchError(wrapping: error) }
  }

  /// The plan as a file: JSON, a store a line.
  ///
  /// - Throws: ``BatchError``.
  public func text() throws -> String {
    try BatchError.border {
      let lines = try stores.map { "    " + (try Self.canonical($0)) }
      var rest = self
      rest.stores = []
      let head = try Self.canonical(rest).replacing(
        "\"stores\":[]", with: "\"stores\":[\n\(lines.joined(separator: ",\n"))\n]")
      return head
    }
  }

  /// The stores of a task by their numbers, the longest first.
  public func shard(_ index: Int) -> [Int] {
    stores.indices.filter { stores[$0].shard == index }.sorted { (stores[$0].bytes, $1) > (stores[$1].bytes, $0) }
  }

  private func digest() throws -> String {
    var rest = self
    rest.id = ""
    return SHA256.hash(Array(try Self.canonical(rest).utf8)).hexadecimal
  }

  private static func canonical(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  private func check(path: String?) throws {
    guard (1...Self.mostTasks).contains(tasks) else {
      throw Self.refused("a plan has from 1 to \(Self.mostTasks) tasks, and not \(tasks)", path)
    }
    guard !stores.isEmpty else { throw Self.refused("the plan has no stores", path) }
    var seen: Set<String> = []
    for store in stores {
      guard store.target.hasPrefix("/"), store.path.hasPrefix("/"), !store.path.contains("\0"),
        !store.target.contains("\0")
      else {
        throw Self.refused("the plan names \(store.path), which is no absolute path", path)
      }
      guard seen.insert(store.target).inserted else { throw Self.refused("\(store.target) comes twice", path) }
      guard store.shard >= 0, store.shard < tasks else {
        throw Self.refused("\(store.path) belongs to no task of the plan", path)
      }
      guard store.bytes < 1 << 56 else {
        throw Self.refused("\(store.path) is said to have \(store.bytes) bytes", path)
      }
    }
  }

  private static func refused(_ message: String, _ path: String?, cause: (any Error)? = nil) -> BatchError {
    BatchError(
      .refused, message, hint: "Make it with \(ProgramName.current) fleet plan", effect: .nothingWritten, path: path,
      cause: cause
    )
  }
}

/// Spreads loads over tasks, the longest first: at most a third more than the best there is.
enum FleetBalance {
  /// The task of each load, from 0. Of equal ones the first that was named comes first.
  static func shards(_ loads: [UInt64], tasks: Int) -> [Int] {
    // The task with least is the last one.
    var sums = (0..<tasks).reversed().map { (load: UInt64(0), task: $0) }
    var shards = [Int](repeating: 0, count: loads.count)
    for place in loads.indices.sorted(by: { (loads[$0], $1) > (loads[$1], $0) }) {
      var least = sums.removeLast()
      shards[place] = least.task
      least.load &+= loads[place]
      var (low, high) = (0, sums.count)
      while low < high {
        let middle = (low + high) / 2
        if (sums[middle].load, sums[middle].task) > (least.load, least.task) { low = middle + 1 } else { high = middle }
      }
      sums.insert(least, at: low)
    }
    return shards
  }
}
