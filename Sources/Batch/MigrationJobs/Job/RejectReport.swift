import Foundation
import Streams

/// The objects that a finished run has set aside.
public struct RejectReport: Sendable, Codable, Equatable {
  /// How many.
  public var count: UInt64
  /// The file: a JSON object a line, with `step`, `mapping`, `entity`, `key`, `reason`, and `detail` and `values` where
  /// they were asked for.
  public var path: String
  /// Options of the command that began the run; nil if it was not begun by a command.
  var arguments: [String]?

  /// The command that migrates the old store again, after a fix; nil if the run was not begun by a command, or the old
  /// store is gone. Rejects are no migration of their own: other objects are linked to them.
  func replay(source: String, backup: String?, destination: String) -> String? {
    guard let arguments, let store = backup ?? (source == destination ? nil : source) else { return nil }
    return ReplayCommand.line(arguments, store: store, destination: destination)
  }
}

extension RejectReport {
  /// Counts the objects of a list.
  package init(list path: String, arguments: [String]? = nil, _ fileSystem: any FileSystem) throws {
    let file = try fileSystem.open(path, .read)
    defer { file.close() }
    var (chunk, position) = ([UInt8](repeating: 0, count: 1 << 16), UInt64(0))
    (count, self.path, self.arguments) = (0, path, arguments)
    while true {
      let read = try chunk.withUnsafeMutableBytes { try file.read(into: $0, at: position) }
      guard read > 0 else { return }
      count += UInt64(chunk[..<read].count { $0 == 0x0A })
      position += UInt64(read)
    }
  }
}

/// What the plan says of objects that cannot be migrated.
struct RejectPlan: Codable, Equatable {
  var limit: UInt64
  var withValues: Bool

  /// A limit that leads on where one was too small.
  static func limit(above limit: UInt64) -> UInt64 {
    let (twice, isTooLarge) = limit.multipliedReportingOverflow(by: 2)
    return isTooLarge ? .max : max(10, twice)
  }
}
