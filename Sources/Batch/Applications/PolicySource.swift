import CoreDataModel
import Foundation
import RunSupport
import Streams

/// A policy in the sources of an application: a class that inherits from NSEntityMigrationPolicy, or a type for Godwit's
/// own protocol.
package struct PolicySource: Sendable, Equatable {
  private static let (base, mostBytes) = ("NSEntityMigrationPolicy", 1 << 20)

  /// The class, as mapping models name it after the module.
  package private(set) var name: String
  /// The file.
  package let path: String
  /// The line of the class, from 1.
  package let line: Int
  /// Why it cannot be compiled into a program, as "line 3 imports UIKit, which is not here"; nil if it can, as far as
  /// its file tells.
  package private(set) var obstacle: String?
  /// Whether it is written for Godwit's own protocol: a program of one's own registers it.
  package private(set) var isOwn = false

  /// What a program of policies can import.
  package static let modules: Set<String> = [
    "CoreData", "Foundation", "Swift", "Dispatch", "FoundationEssentials", "Synchronization", "RegexBuilder",
  ]

  private struct Class {
    var policy: PolicySource
    var parent: String
  }

  /// The policies in these files, also those that inherit from another one of them; in the order of the files.
  static func find(in paths: [String]) -> [PolicySource] {
    let classes = paths.flatMap(classes)
    var known: Set<String> = [base]
    while let next = classes.first(where: { known.contains($0.parent) && !known.contains($0.policy.name) }) {
      known.insert(next.policy.name)
    }
    return classes.filter { known.contains($0.parent) }.map(\.policy) + paths.flatMap(own)
  }

  /// The policies in files and in folders of them.
  ///
  /// Throws ``BatchError`` (`noSuchFile`, `refused`).
  package static func find(below paths: [String]) throws -> [PolicySource] {
    let files = try paths.map { path in
      try PackageFolders.refuseMissing(path)
      return try ApplicationFiles(below: path)
    }
    return find(in: files.flatMap { $0.swift + $0.objectiveC })
  }

  /// The files of Swift at a path, or below it.
  ///
  /// Throws ``BatchError`` (`refused`).
  package static func swiftFiles(below path: String) throws -> [String] { try ApplicationFiles(below: path).swift }

  /// Whether a file has the word that every policy has in its name, or in that of its parent.
  package static func mayHavePolicies(_ path: String) -> Bool {
    guard let bytes = try? LocalFileSystem().readAll(path, cap: mostBytes) else { return false }
    return Data(bytes).range(of: Data("Policy".utf8)) != nil
  }

  /// The lines of a file that has the word, from 1, without comments at their ends.
  private static func lines(_ path: String) -> [(number: Int, code: Substring)] {
    guard mayHavePolicies(path), let bytes = try? LocalFileSystem().readAll(path, cap: mostBytes) else { return [] }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    return lines.enumerated().map { index, line in
      (index + 1, line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line)
    }
  }

  /// Classes with a parent, of files that have the word.
  private static func classes(_ path: String) -> [Class] {
    var (found, exposed) = ([Class](), String?.none)
    let lines = lines(path)
    let obstacle = path.hasSuffix(".swift") ? foreignImport(lines.map(\.code)) : "it is written in Objective-C"
    for (number, code) in lines {
      exposed = code.firstMatch(of: /@objc\(\s*(\w+)\s*\)/).map { String($0.1) } ?? exposed
      if let match = code.firstMatch(of: /(?:\bclass|@interface)\s+(\w+)\s*:\s*([\w.]+)/) {
        let parent = match.2.split(separator: ".").last.map(String.init) ?? ""
        found.append(
          Class(
            policy: PolicySource(name: exposed ?? String(match.1), path: path, line: number, obstacle: obstacle),
            parent: parent))
      }
      // An attribute stands before what it is for.
      if code.contains("{") || code.contains(";") { exposed = nil }
    }
    return found
  }

  /// Types for Godwit's own protocol.
  private static func own(_ path: String) -> [PolicySource] {
    var found: [PolicySource] = []
    for (number, code) in path.hasSuffix(".swift") ? lines(path) : [] {
      if let match = code.firstMatch(
        of: /\b(?:struct|enum|class|actor|extension)\s+(\w+)\s*:(?:[^{]*[\s,.&])?EntityMigrationPolicy(?!\w)/)
      {
        let name = String(match.1)
        let reason =
          "it is written for Godwit itself, and a program of your own registers it, by GodwitCommand.main(policies: "
          + "[\(name).self]): docs/manual/policies.md"
        found.append(PolicySource(name: name, path: path, line: number, obstacle: reason, isOwn: true))
      } else if let match = code.firstMatch(of: /\bstatic\s+(?:let|var)\s+className\b[^"]*"(\w+)"/), !found.isEmpty {
        found[found.count - 1].name = String(match.1)
      }
    }
    return found
  }

  /// The first import of a module that is not here. One that a condition of the compiler allows may be left out.
  private static func foreignImport(_ lines: [Substring]) -> String? {
    var conditions = 0
    for (index, line) in lines.enumerated() {
      let code = line.drop { $0 == " " || $0 == "\t" }
      if code.hasPrefix("#if") { conditions += 1 } else if code.hasPrefix("#endif") { conditions -= 1 }
      guard conditions == 0,
        let match = code.firstMatch(
          of: /^(?:@\w+\s+)*import\s+(?:(?:class|struct|enum|protocol|func|var|typealias)\s+)?(\w+)/),
        !modules.contains(String(match.1))
      else { continue }
      return "line \(index + 1) imports \(match.1), which is not here"
    }
    return nil
  }
}
