import MigrationJobs

/// Gives out names that are short enough and unlike all before.
package struct LoadNameBook: Sendable {
  /// Bytes of the longest name, which is PostgreSQL's; others take more.
  static let maximumBytes = 63

  private var used: Set<String>
  private let prefix: String?
  /// Names that are others than those that were wanted.
  private(set) var renamed: [(wanted: String, given: String)] = []

  /// Gives out none of `used`, and none that begins with `prefix`.
  package init(used: Set<String> = [], prefix: String? = nil) { (self.used, self.prefix) = (used, prefix) }

  /// `wanted`, or the first of `others` that is free, or one with a number after it; of a name that is too long, its
  /// beginning and a hash of the whole.
  package mutating func take(_ wanted: String, or others: [String] = []) -> String {
    let given = free(wanted, others)
    if given != wanted { renamed.append((wanted, given)) }
    return given
  }

  private mutating func free(_ wanted: String, _ others: [String]) -> String {
    for name in ([wanted] + others).map(allowed) where used.insert(name).inserted { return name }
    var number = 2
    while !used.insert(allowed("\(wanted)_\(number)")).inserted { number += 1 }
    return allowed("\(wanted)_\(number)")
  }

  private func allowed(_ name: String) -> String {
    let name = prefix.map { name.hasPrefix($0) ? "_\(name)" : name } ?? name
    guard name.utf8.count > Self.maximumBytes else { return name }
    var short = ""
    for letter in name {
      guard short.utf8.count + letter.utf8.count + 9 <= Self.maximumBytes else { break }
      short.append(letter)
    }
    return "\(short)_\(JobRegistry.hex(name).suffix(8))"
  }
}
