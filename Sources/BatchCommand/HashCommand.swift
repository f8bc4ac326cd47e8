import ArgumentParser
import Batch
import Foundation

struct HashCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hash", abstract: "Prints the version hashes of a model's entities.",
    discussion: """
      The hashes are those that Core Data writes into a store's metadata (NSStoreModelVersionHashes), in base64. With --json \
      the result is one object and nothing else: version, entity, hash. In a folder with several models a version is named \
      Model/Version.
      """)

  @Argument(help: .models, completion: .models) var model: String
  @Option(name: .long, help: ArgumentHelp("The version. Default: all.", valueName: "version"), completion: .versions)
  var version: String?
  @OptionGroup var swift: SwiftOptions
  @Flag(name: .long, help: .json) var json = false

  func run() throws {
    let library = try ModelLibrary(paths: [model])
    var found: [(name: String, hashes: [String: [UInt8]])] = []
    if let version {
      found.append((version, try library.target(named: version).versionHashes))
    } else {
      for bundle in library.bundles {
        let prefix = library.bundles.count > 1 ? bundle.name + "/" : ""
        found += bundle.versions.map { (prefix + $0.name, $0.versionHashes) }
      }
    }
    Console.print(json ? try Self.json(found, model) : Self.text(found))
  }

  private static func base64(_ hash: [UInt8]) -> String { Data(hash).base64EncodedString() }

  private static func json(_ found: [(name: String, hashes: [String: [UInt8]])], _ path: String) throws -> String {
    var versions: [String: [String: String]] = [:]
    for (name, hashes) in found {
      guard versions.updateValue(hashes.mapValues(base64), forKey: name) == nil else {
        throw BatchError(
          .badModel, "several versions are named \(name)", hint: "Name one model, or a version with --version",
          path: path)
      }
    }
    return try JSONOutput.text(versions)
  }

  private static func text(_ found: [(name: String, hashes: [String: [UInt8]])]) -> String {
    let width = found.flatMap(\.hashes.keys).map(\.count).max() ?? 0
    return found.flatMap { name, hashes in
      [name] + hashes.keys.sorted().map { "  \($0.padding(width))  \(base64(hashes[$0] ?? []))" }
    }.joined(separator: "\n")
  }
}

extension String {
  /// The text with blanks after it, so that columns stand below each other.
  func padding(_ width: Int) -> String { self + String(repeating: " ", count: Swift.max(0, width - count)) }
}
