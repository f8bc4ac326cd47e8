import Streams

/// The memory budget of a run, cut into the shares of those who use it.
public struct MemoryBudget: Sendable, Equatable {
  /// Peak resident memory of the process, in bytes.
  public let total: Int

  /// The shares of the memory for sorting and for look-ups that a part of the rows gets: as much of it is written to
  /// disk as of all rows.
  private var (sortShare, lookupShare) = (1.0, 1.0)

  /// The least that a run needs.
  public static let minimum = 48 << 20
  /// The default: 64 MiB.
  public static let standard = MemoryBudget(total: 64 << 20)

  /// Makes a budget; what is below the minimum is raised to it.
  public init(total: Int) { self.total = min(max(total, Self.minimum), 1 << 40) }

  /// What stays for the whole run beside it.
  private var setAside = 0

  /// The same for a sample that is such a part of all rows. Its look-ups get `lookups` times the memory of a run's.
  package func sample(_ share: Double, lookups: Double = 1) -> MemoryBudget {
    var less = self
    less.sortShare = min(1, max(Double(Self.leastSortBytes) / Double(sortBytes), share))
    less.lookupShare = max(Double(Self.leastLookupBytes) / Double(lookupBytes), lookups)
    return less
  }

  /// With less, runs would be too short to say anything of longer ones.
  private static let leastSortBytes = 2 << 20
  private static let leastLookupBytes = 128 << 10

  /// The rest beside so many bytes that stay for the whole run.
  package func less(_ bytes: Int) -> MemoryBudget {
    var rest = MemoryBudget(total: total - bytes)
    rest.setAside = setAside + bytes
    return rest
  }

  // Program, runtime and pipeline take about 32 MiB whatever the store; the rest is shared.
  private var free: Int { total - (32 << 20) }
  /// For sorting index keys.
  package var sortBytes: Int { Int((Double(min(free / 3, 1 << 30)) * sortShare).rounded()) }
  /// For the tables of all look-ups together, and once more for the filters of their runs.
  package var lookupBytes: Int { Int((Double(min(free / 6, 1 << 30)) * lookupShare).rounded()) }
  /// For pages of each table from which single rows are fetched.
  package var lookupCacheBytes: Int { min(max(1 << 20, free / 16), 1 << 28) }
  /// For the objects of all tables together that were fetched by their keys.
  package var fetchBytes: Int { min(free / 6, 1 << 28) }
  /// For a row group of a Parquet file.
  package var rowGroupBytes: Int { min(free / 4, 1 << 27) }
  /// The largest row that is put together in memory, without its long values; and the largest of those that is looked
  /// into.
  public var rowLimit: Int { free / 8 }
  /// Runs a body; says how much memory would do where something is too large for this one.
  package func advising<R>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch let error as StreamsError { throw advised(error) }
  }

  /// An error that says how much memory would do, if it is about something that is too large.
  package func advised(_ error: StreamsError) -> StreamsError {
    guard let (needed, allowed) = error.shortage, allowed > 0, sortShare == 1 else { return error }
    // Every share grows with what is shared.
    let wanted = (Double(needed) / Double(allowed) * Double(free)).rounded(.up) + Double(total - free + setAside)
    var advised = error
    advised.hint = "Run again with --memory \(Int(min(wanted, Double(1 << 40))) >> 20 + 1)M, or more"
    return advised
  }

  /// Texts and blobs of that many bytes and more go from file to file, page by page.
  package static let longValueBytes = 16 << 10
}

/// Where a step keeps its files: all begin with one path inside the job's directory; and the memory that it has (I7).
package struct StepFiles: Sendable {
  package let prefix: String
  package let fileSystem: any FileSystem
  package let budget: MemoryBudget
  /// Throws when the run was asked to stop: for what goes through a whole table in one call.
  package var throwIfStopped: @Sendable () throws -> Void = {}

  package init(
    prefix: String, fileSystem: any FileSystem, budget: MemoryBudget,
    throwIfStopped: @escaping @Sendable () throws -> Void = {}
  ) {
    self.prefix = prefix
    self.fileSystem = fileSystem
    self.budget = budget
    self.throwIfStopped = throwIfStopped
  }

  package func path(_ name: String) -> String { "\(prefix).\(name)" }
}
