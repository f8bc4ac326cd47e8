import Foundation

/// What a person may have meant by a name that is not known.
package enum NearName {
  /// Folders can have any number of files.
  private static let mostFiles = 10_000

  /// ", did you mean X?" for what goes after the name; empty if none comes near.
  package static func question(_ name: String, in names: [String]) -> String {
    find(name, in: names).map { ", did you mean \($0)?" } ?? ""
  }

  /// The error for a path at which there is nothing: a file of the same folder may have been meant.
  package static func noSuchFile(_ path: String, _ what: String = "file") -> BatchError {
    let place = URL(fileURLWithPath: path)
    let beside = (try? FileManager.default.contentsOfDirectory(atPath: place.deletingLastPathComponent().path)) ?? []
    let names = beside.filter { !$0.hasPrefix(".") }.sorted().prefix(mostFiles)
    let near = question(place.lastPathComponent, in: Array(names))
    return BatchError(.noSuchFile, "there is no such \(what)\(near)", hint: "Check the path", path: path)
  }

  /// The name that is written most like another one; nil when none comes near.
  package static func find(_ name: String, in names: [String]) -> String? {
    let limit = max(1, min(name.count, 12) / 3 + 1)
    let found = names.map { ($0, distance(Array(name.lowercased().prefix(40)), Array($0.lowercased()))) }.min {
      $0.1 < $1.1
    }
    // A name of which every letter would change is no near one.
    return found.flatMap { $0.1 <= limit && $0.1 < max(name.count, $0.0.count) ? $0.0 : nil }
  }

  /// How many letters have to be changed, added or removed.
  private static func distance(_ first: [Character], _ second: [Character]) -> Int {
    var row = Array(0...second.count)
    for (index, letter) in first.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for (column, other) in second.enumerated() {
        let above = row[column + 1]
        row[column + 1] = letter == other ? diagonal : 1 + min(diagonal, above, row[column])
        diagonal = above
      }
    }
    return row[second.count]
  }
}
