import Foundation
import MappingModels
import RunSupport
import Streams

/// How many objects that cannot be migrated a run sets aside before it ends; without it the first one ends it.
public struct RejectLimit: Sendable, Equatable {
  /// What is counted, over all steps and interruptions of the run.
  public enum Most: Sendable, Equatable {
    /// So many objects.
    case count(UInt64)
    /// So many of a hundred rows of the source.
    case percent(Double)
  }

  /// How many.
  public var most: Most
  /// Whether values of attributes are written down, too.
  public var withValues: Bool

  /// Makes a limit.
  public init(_ most: Most, withValues: Bool = false) { (self.most, self.withValues) = (most, withValues) }

  /// The options that ask for it.
  package var arguments: [String] {
    let text =
      switch most {
      case .count(let count): "\(count)"
      case .percent(let percent): "\(percent)%".replacing(/\.0%$/, with: "%")
      }
    return ["--max-rejects", text] + (withValues ? ["--reject-values"] : [])
  }

  /// The number for a source with so many rows.
  package func count(rows: UInt64) -> UInt64 {
    switch most {
    case .count(let count): count
    case .percent(let percent): UInt64(clamping: Int64(Double(rows) * percent / 100))
    }
  }
}

/// The objects that a run has set aside: a file of JSON lines in the job's directory. What counts of it is in the
/// checkpoint; a resume cuts off the rest, so that nothing is lost and nothing there twice. FORMAT.md, section 8.
package final class RejectLog: @unchecked Sendable {
  // Sendable: used by the migrating thread alone.

  /// What a checkpoint keeps.
  package struct State: Sendable, Codable, Equatable {

    package init() {

    }
    var length: UInt64 = 0
    /// Over all steps.
    package var total: UInt64 = 0
    /// Of the step at work, by entity mapping.
    package var mappings: [UInt64] = []

    package init(length: UInt64 = 0, total: UInt64 = 0, mappings: [UInt64] = []) {
      self.length = length
      self.total = total
      self.mappings = mappings
    }
  }

  /// One line.
  private struct Line: Encodable {
    var step: Int
    var mapping: String
    var entity: String
    var key: Int64
    var reason: String
    /// The error below; it may show values.
    var detail: String?
    var values: [String: RejectedValue]?
  }

  private let file: any File
  private let limit: UInt64
  let withValues: Bool
  /// The command that resumes without history; nil if there is none.
  package var emptyingHistory: AdvisedCommand?
  private(set) var state: State
  private var pending: [UInt8] = []
  private let encoder = JSONEncoder()

  /// Begins a file, or continues one of which a checkpoint says how much counts.
  package init(path: String, fileSystem: any FileSystem, limit: UInt64, withValues: Bool, restoring state: State?)
    throws
  {
    file = try fileSystem.open(path, state == nil ? .create : .updateOrCreate)
    (self.limit, self.withValues, self.state) = (limit, withValues, state ?? State())
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard try file.size() >= self.state.length else {
      throw StreamsError(
        .damagedCheckpoint, "the list of rejected objects is shorter than its checkpoint says", path: path,
        hint: "Check the disk, then remove the job directory and start again")
    }
    try file.truncate(to: self.state.length)
  }

  deinit { file.close() }

  /// A step begins with its first row.
  func begin(mappings: Int) { state.mappings = Array(repeating: 0, count: mappings) }

  /// Sets an object aside. Throws `tooManyRejects` when it is one more than are allowed.
  func add(_ error: BatchError, step: Int, mapping: Int, _ compiled: CompiledMapping, key: Int64, row: RecordDecoder)
    throws
  {
    guard state.total < limit else {
      try flush()
      throw BatchError(
        .tooManyRejects, "more than \(limit.counted("object")) cannot be migrated; this one: \(error.message)",
        hint: "Those before are in \(file.path)",
        entity: compiled.source.name, key: key, cause: error.cause)
    }
    let line = Line(
      step: step, mapping: compiled.mapping.name, entity: compiled.source.name, key: key, reason: error.message,
      detail: withValues ? error.cause.map { "\($0)" } : nil,
      values: withValues ? RejectedValue.values(of: compiled.source, in: row) : nil)
    pending += try encoder.encode(line) + [0x0A]
    state.total += 1
    state.mappings[mapping] += 1
    if pending.count >= 1 << 16 { try flush() }
  }

  private func flush() throws {
    try pending.withUnsafeBytes { try file.write($0, at: state.length) }
    state.length += UInt64(pending.count)
    pending.removeAll(keepingCapacity: true)
  }

  /// Writes what is pending; the file is to be synced before the state is published.
  func checkpoint() throws -> (state: State, toSync: any File) {
    try flush()
    return (state, file)
  }
}

/// A value of a rejected object, as it is stored.
struct RejectedValue: Encodable {
  private static let textCap = 4096
  private let value: Value

  /// The attributes of a row. One that cannot be read, or is long, is left out: the row itself is in the source.
  static func values(of entity: SourceEntity, in row: RecordDecoder) -> [String: RejectedValue] {
    var values: [String: RejectedValue] = [:]
    for name in entity.attributes.names {
      guard let attribute = entity.attribute(name)?.pointee, attribute.position < row.columnCount,
        row.body(attribute.position).count <= textCap, let value = try? row.value(attribute.position)
      else { continue }
      values[name] = RejectedValue(value: value)
    }
    return values
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch value {
    case .null: try container.encodeNil()
    case .integer(let number): try container.encode(number)
    case .real(let number):
      if number.isFinite { try container.encode(number) } else { try container.encode("\(number)") }
    case .text(let text): try container.encode(text)
    case .blob(let bytes): try container.encode(["base64": Data(bytes).base64EncodedString()])
    }
  }
}
