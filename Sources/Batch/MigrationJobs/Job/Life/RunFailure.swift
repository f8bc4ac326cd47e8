import Foundation
import RunSupport
import Streams

/// `failure.json`: an error that follows from plan and source alone. Going on ends with it again, unless the program
/// was corrected.
package struct RunFailure: Codable, Equatable {
  /// The kind of error.
  var code: String
  /// What happened, in one line.
  package var reason: String

  package var exitCode: Int32 { BatchError.Code(code).exitCode }

  /// Nil for an error that another try may not meet: a full disk, a stop, a lock, too little memory, a lease.
  init?(_ error: any Error) {
    let error = BatchError(wrapping: error).withoutEffect
    guard Self.codes.contains(error.code) else { return nil }
    (code, reason) = (error.code.description, "\(error)")
  }

  /// The same of a load: a value that its column cannot hold comes again, and so does a damaged book. What a server
  /// refuses may be right the next time.
  package init?(ofLoad error: BatchError) {
    let comesAgain = error.code == .badCheckpoint || (error.code == .failed && error.entity != nil)
    guard error.code != .refused, comesAgain || Self.codes.contains(error.code) else { return nil }
    (code, reason) = (error.code.description, "\(error.withoutAdvice)")
  }

  private static let codes: Set<BatchError.Code> = [
    .badStore, .badModel, .badMapping, .noModel, .noPath, .missingPolicy, .refused, .policyFailed, .mismatch,
    .tooManyRejects,
    BatchError.Code(.damagedDatabase), BatchError.Code(.notADatabase), BatchError.Code(.unsupported),
    BatchError.Code(.order),
  ]

  /// Written for people and for advice: nothing has to be durable.
  package func write(_ job: JobDirectory, _ fileSystem: any FileSystem) {
    guard let bytes = try? JSONEncoder().encode(self) else { return }
    try? fileSystem.writeAndSync(Array(bytes), to: job.failure)
  }

  /// Nil if there is none that can be understood.
  package static func read(_ job: JobDirectory, _ fileSystem: any FileSystem) -> RunFailure? {
    guard let bytes = try? fileSystem.readAll(job.failure, cap: 1 << 16) else { return nil }
    return try? JSONDecoder().decode(RunFailure.self, from: Data(bytes))
  }
}
