import CoreDataStore

/// What a run writes down for the person who looks at it in the morning: JSON lines, of which none decides anything.
/// FORMAT.md, section 8. Its bytes are not trusted: what cannot be understood is left out.
public struct RunHistory: Sendable, Equatable {
  /// What was asked for.
  public struct Facts: Sendable, Codable, Equatable {
    var format = 1
    /// Distinguishes one run from another.
    var run: String
    /// The program that began it.
    public var program: String
    /// Paths.
    public var source: String
    /// See ``source``.
    public var destination: String
    /// What the source was made of, if that was no store that godwit migrates as it is.
    public var madeFrom: SourceFile?
    /// Versions before and after.
    public var sourceVersion: String
    /// See ``sourceVersion``.
    public var targetVersion: String
    /// In words, for people.
    public var settings: [Setting]
    /// The memory that was allowed, in bytes.
    public var memory: UInt64
    /// Who asked for it, if it was not a person: a fleet's plan, and the store's number in it.
    public var origin: String?
    /// What the destination is, if it is no store: see ``RunReport/form``.
    public var form: String?
  }

  /// A setting in words.
  public struct Setting: Sendable, Codable, Equatable {
    /// What is set.
    public var name: String
    /// To what.
    public var value: String
  }

  /// A step of the path.
  public struct Step: Sendable, Codable, Equatable {
    /// Mapping models of a step, as far as they fit on a page.
    public struct Mapping: Sendable, Codable, Equatable {
      /// The mapping model.
      public var name: String
      /// Its first entity mappings.
      public var entityMappings: [String]
      /// How many it has.
      public var count: Int
      /// Policy classes.
      public var policies: [String]
    }
    /// Version before the step.
    public var source: String
    /// Version after it.
    public var destination: String
    /// Versions between, which are in no file.
    public var passed: [String]
    /// Whether everything was inferred.
    public var isInferred: Bool
    /// Why this step was chosen.
    public var reason: String
    /// In the order in which they run.
    public var mappings: [Mapping]
    /// ``ManagedObjectModel/versionHashesDigest`` of ``source``.
    public var sourceDigest: String?
    /// The same of ``destination``.
    public var destinationDigest: String?
  }

  /// What an entity takes in a store.
  public struct Size: Sendable, Codable, Equatable {
    /// The entity.
    public var entity: String
    /// Its objects.
    public var rows: UInt64
    /// Bytes of its pages, by a sample of them; nil if they could not be looked at.
    public var bytes: UInt64?
    /// Whether ``rows`` are estimated from a sample, too.
    public var isEstimate: Bool
  }

  /// What was known when the run had looked at its source.
  public struct Origin: Sendable, Codable, Equatable {
    /// The path.
    public var steps: [Step]
    /// Bytes of the source.
    public var bytes: UInt64
    /// Its entities.
    public var entities: [Size]
    /// Its source fingerprint, hexadecimal.
    public var fingerprint: String?
  }

  /// A process that worked on the run.
  public struct Process: Sendable, Codable, Equatable {
    /// From 1.
    public var number: Int
    /// When it began, in seconds since 1970.
    public var at: Double
    /// Its number on its machine.
    public var pid: Int32
    /// The machine.
    public var host: String
  }

  /// How far a process was at a moment.
  public struct Sample: Sendable, Codable, Equatable {
    /// The process.
    public var process: Int
    /// When, in seconds since 1970.
    public var at: Double
    /// Source rows that it had read.
    public var rows: UInt64
    /// Bytes that it had written.
    public var bytes: UInt64
    /// Its resident memory; of samples that were left out since the one before, the most.
    public var memory: UInt64
    /// Checkpoints that it had published.
    public var checkpoints: UInt64
    /// What of the run was done, from 0 to 1.
    public var done: Double
    /// The step at work, from 1.
    public var step: Int
    /// What was done just then.
    public var activity: String
    /// Whether it was paused.
    public var paused: Bool
    /// Seconds until then in which it was paused, or its cut-over held; nil if there were none.
    public var waited: Double?
  }

  /// What became of a step's rows (I12).
  public struct Tally: Sendable, Codable, Equatable {
    /// Version before the step.
    public var source: String
    /// Version after it.
    public var destination: String
    /// Objects.
    public var read: UInt64
    /// See ``read``.
    public var written: UInt64
    /// By a rule: a filter, a policy, an entity without mapping.
    public var leftOut: UInt64
    /// That could not be migrated.
    public var rejected: UInt64
    /// By policies and rules, besides.
    public var made: UInt64
    /// Links of relationships with a table of their own.
    public var linksWritten: UInt64
    /// Links and references that had to go.
    public var linksLeftOut: UInt64
    /// Of them, those whose object was kept, and that led to one that was left out or rejected; nil in records of
    /// earlier versions.
    public var linksCleared: UInt64?
    /// Where everything of the version before went, and of those between.
    public var balances: [String]?
  }

  /// What was proved before the store got its name.
  public struct Proof: Sendable, Codable, Equatable {
    /// How: `fast`, `full` or `sqlite`.
    public var mode: String
    /// Tables whose rows were compared with what was written; 0 for a run that an earlier version of the program began.
    public var tables: Int
    /// Their rows.
    public var rows: UInt64
    /// Values outside the store, in words.
    public var external: String?
    /// What real stores show, too.
    public var warnings: [String]
    /// How many kinds of warnings there are.
    public var warningCount: Int
    /// How long it took, beside what was proved while the store was written.
    public var seconds: Double
  }

  /// What a run left that came to its end.
  public struct Finished: Sendable, Codable, Equatable {
    /// The path that has the old store.
    public var backup: String?
    /// Bytes of the new store.
    public var bytes: UInt64
    /// The most resident bytes of the process that finished it; nil in records of earlier versions.
    public var peakMemory: UInt64?
    /// Its entities.
    public var entities: [Size]
    /// Its tables, of a file of ordinary tables.
    public var tables: [Size]?
    /// Step by step.
    public var tallies: [Tally]
    /// Source objects by entity.
    public var read: [String: UInt64]
    /// Nil if none was asked for.
    public var proof: Proof?
    /// Rejected objects.
    public var rejects: RejectReport?
    /// What a person should know.
    public var notes: [String]
    /// Of a load the source rows: its samples also count what it reads of the store that it has migrated.
    var rowsRead: UInt64?
    /// What the new store was then.
    var result: StoreState?
    /// Which store it is, and at which version.
    var identity: StoreIdentity?
  }

  /// How a process ended that could say so.
  public struct End: Sendable, Codable, Equatable {
    /// The process.
    public var process: Int
    /// When, in seconds since 1970.
    public var at: Double
    /// The kind of error; nil if the run came to its end.
    public var code: String?
    /// What happened.
    public var reason: String?
    /// What a person can do about it.
    public var hint: String?
    /// The commands that the hint names; nil in records of earlier versions.
    public var next: [String]?
    /// Nil if it did not come to its end.
    public var finished: Finished?
  }

  /// A line: one of these.
  struct Line: Codable {
    var facts: Facts?
    var origin: Origin?
    var process: Process?
    var sample: Sample?
    var end: End?
    /// Seconds between samples, from here on.
    var every: Double?
  }

  /// What was asked for.
  public internal(set) var facts: Facts?
  /// What was found.
  public internal(set) var origin: Origin?
  /// In their order; of very many, those in the middle are left out.
  public internal(set) var processes: [Process] = []
  /// In their order; the longer the run, the fewer in a minute.
  public internal(set) var samples: [Sample] = []
  /// In their order.
  public internal(set) var ends: [End] = []
  /// Seconds between samples.
  var every = 1.0
}
