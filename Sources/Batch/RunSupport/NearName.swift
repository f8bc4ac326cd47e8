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
    let name = place.lastPathComponent
    // Equal ends, as .sqlite, do not make two names alike.
    let names = beside.filter { !$0.hasPrefix(".") && $0 != name }.sorted().prefix(mostFiles)
    let near = question(name, in: names.filter { isNear(stem(name), stem($0)) })
    return BatchError(.noSuchFile, "there is no such \(what)\(near)", hint: "Check the path", path: path)
  }

  private static func stem(_ name: String) -> String { name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name }

  /// The name that is written most like another one; nil when none comes near.
  package static func find(_ name: String, in names: [String]) -> String? {
    names.filter { isNear(name, $0) }.map { ($0, distance(name, $0)) }.min { $0.1 < $1.1 }?.0
  }

  /// Whether few letters differ: of three one, and never more than four.
  private static func isNear(_ first: String, _ second: String) -> Bool {
    distance(first, second) <= min(4, max(first.count, second.count) / 3)
  }

  /// How many letters have to be changed, added, removed, or swapped with the next one.
  private static func distance(_ first: String, _ second: String) -> Int {
    let (first, second) = (letters(first), letters(second))
    var (before, row) = ([Int](), Array(0...second.count))
    for (index, letter) in first.enumerated() {
      var next = [index + 1]
      for (column, other) in second.enumerated() {
        var least = letter == other ? row[column] : 1 + min(row[column], row[column + 1], next[column])
        if index > 0, column > 0, letter == second[column - 1], other == first[index - 1] {
          least = min(least, before[column - 1] + 1)
        }
        next.append(least)
      }
      (before, row) = (row, next)
    }
    return row[second.count]
  }

  /// Names that are longer are hardly typed.
  private static func letters(_ name: String) -> [Character] { Array(name.lowercased().prefix(80)) }
}
