import Glibc
import Streams

/// What a verification saw of values outside a store.
public struct ExternalDataReport: Sendable, Codable, Equatable {
  /// Values that name a file.
  public var references: UInt64 = 0
  /// Of them, those whose file is the source's own: it has two names, or kept its one, so that its bytes cannot differ.
  public var shared: UInt64 = 0
  /// Of them, those whose file is a copy, whose bytes were compared with the source's.
  public var compared: UInt64 = 0

  /// The counts in words.
  public var text: String { "\(references), \(shared) of them shared with the source, \(compared) compared with it" }

  func adding(_ other: ExternalDataReport) -> ExternalDataReport {
    ExternalDataReport(
      references: references + other.references, shared: shared + other.shared, compared: compared + other.compared)
  }
}
