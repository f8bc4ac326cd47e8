import Streams

extension BatchError.Code {
  /// The code of an error of the page engine, by its name.
  public init(_ code: StreamsError.Code) { self.init(code.description) }

  /// The exit code of a command that ends with such an error; 1 for a kind that has none of its own.
  public var exitCode: Int32 { Self.exitCodes[self] ?? 1 }

  /// The one table of them. What each number means to a person is in the command's help.
  private static let exitCodes: [Self: Int32] = [
    .tooManyRejects: 11,
    .mismatch: 12,
    .badModel: 20, .badMapping: 20, .noModel: 20, .noPath: 20, .missingPolicy: 20, .refused: 20, .xmlStore: 20,
    Self(.locked): 20, Self(.tooLarge): 20, Self(.unsupported): 20,
    .leaseHeld: 21,
    .badCheckpoint: 22, Self(.damagedCheckpoint): 22, Self(.foreignCheckpoint): 22,
    .badStore: 30, Self(.notADatabase): 30, Self(.damagedDatabase): 30,
    .noSuchFile: 64,
    // A full disk needs room: then the run is resumed from its last checkpoint.
    .stopped: 75, Self(.diskFull): 75,
  ]
}
