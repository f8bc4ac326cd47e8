import Foundation
import Streams

/// Rejected objects by their rule: the entity mapping, and what it could not do.
enum RejectGroups {
  private static let mostGroups = 200
  private static let mostKeys = 10
  /// A list up to that size is put in order.
  private static let mostBytes: UInt64 = 8 << 20

  private struct Key: Hashable {
    var step: Int
    var mapping: String
    var reason: String

    init(_ reject: RunReport.Reject) {
      (step, mapping) = (reject.step, reject.mapping)
      reason = String(reject.reason.prefix(400))
    }
  }

  /// The groups of a list, the largest one first. Of more than two hundred reasons those that came first.
  static func groups(_ path: String) -> [RunReport.RejectGroup] {
    var (places, groups) = ([Key: Int](), [RunReport.RejectGroup]())
    var lines = JSONLines(path: path)
    while let line = try? lines.next() {
      guard let reject = try? JSONDecoder().decode(RunReport.Reject.self, from: Data(line)) else { continue }
      let key = Key(reject)
      if let place = places[key] {
        groups[place].count += 1
        if groups[place].keys.count < mostKeys { groups[place].keys.append(reject.key) }
      } else if groups.count < mostGroups {
        places[key] = groups.count
        groups.append(
          RunReport.RejectGroup(
            step: key.step, mapping: key.mapping, entity: reject.entity, reason: key.reason, count: 1,
            keys: [reject.key]))
      }
    }
    return groups.sorted { $0.count > $1.count }
  }

  /// Puts the lines of a finished list in order, rule by rule. A long one stays as it is.
  static func sort(_ path: String, _ fileSystem: any FileSystem) throws {
    guard let size = try fileSystem.status(path)?.size, size <= mostBytes else { return }
    let bytes = try fileSystem.readAll(path, cap: Int(mostBytes))
    var (order, lines) = ([Key](), [Key: [ArraySlice<UInt8>]]())
    for line in bytes.split(separator: 0x0A) {
      guard let reject = try? JSONDecoder().decode(RunReport.Reject.self, from: Data(line)) else { return }
      let key = Key(reject)
      if lines[key] == nil { order.append(key) }
      lines[key, default: []].append(line)
    }
    guard order.count > 1 else { return }
    var sorted: [UInt8] = []
    for line in order.flatMap({ lines[$0] ?? [] }) { sorted += line + [0x0A] }
    guard sorted.count == bytes.count else { return }
    try fileSystem.writeAndSync(sorted, to: path + ".new")
    try fileSystem.rename(path + ".new", to: path)
  }
}

extension RunReport {
  /// Rejected objects with the same rule.
  public struct RejectGroup: Sendable, Codable, Equatable {
    /// The step, from 1.
    public var step: Int
    /// The entity mapping.
    public var mapping: String
    /// The source entity of the first one.
    public var entity: String
    /// What could not be done.
    public var reason: String
    /// How many.
    public var count: UInt64
    /// Keys of the first of them.
    public var keys: [Int64]
  }
}
