import CoreDataModel
import Foundation

@testable import SwiftDataModels

/// Stores that SwiftData wrote, beside the sources of their schemas: by GODWIT_CORPUS, or in `shared/corpus` above the
/// sources.
enum SwiftDataCorpus {
  /// A store with its sources.
  struct Entry: Sendable, CustomStringConvertible {
    let store: String
    let sources: String
    let version: String
    var hashes: [String: String]

    var description: String { (store as NSString).lastPathComponent }
  }

  static let missing = "no stores of SwiftData: set GODWIT_CORPUS to the folder that has swiftdata/HASHES.tsv"

  static let root: String? = {
    let files = FileManager.default
    func folder(_ path: String) -> String? {
      files.fileExists(atPath: path + "/swiftdata/HASHES.tsv") ? path + "/swiftdata" : nil
    }
    if let path = ProcessInfo.processInfo.environment["GODWIT_CORPUS"] { return folder(path) }
    var place = URL(fileURLWithPath: #filePath)
    while place.path != "/" {
      place.deleteLastPathComponent()
      if let found = folder(place.appendingPathComponent("shared/corpus").path) { return found }
    }
    return nil
  }()

  static let isPresent = root != nil && SourceParser.isThere

  static let entries: [Entry] = {
    guard let root, let text = try? String(contentsOfFile: root + "/HASHES.tsv", encoding: .utf8) else { return [] }
    var entries: [String: Entry] = [:]
    for line in text.split(separator: "\n").dropFirst() {
      let fields = line.split(separator: "\t").map(String.init)
      let folder = "\(root)/\(fields[0])"
      let store = "\(folder)/\(fields[1])"
      let entry = Entry(store: store, sources: "\(folder)/\(fields[2])", version: fields[4], hashes: [:])
      entries[store, default: entry].hashes[fields[5]] = fields[6]
    }
    return entries.values.sorted { $0.store < $1.store }
  }()

  /// The version that the sources declare for the store.
  ///
  /// Sources of another target are left out: a second class `Cocktail`, and tests. Where the file that names the classes
  /// is not in the corpus, one is put beside them.
  static func model(_ entry: Entry) throws -> ManagedObjectModel? {
    let files = try SourceFolder.files(below: entry.sources).filter { path in
      !path.contains("/PreLoad/") && !path.contains("Tests/")
    }
    var texts = try SourceText.read(files)
    if entry.hashes["Cocktail"] != nil {
      texts.append(SourceText(path: "Schema.swift", bytes: Array("let schema = Schema([Cocktail.self])".utf8)))
    }
    return try SwiftDataReader().schema(texts: texts).versions.first { $0.name == entry.version }
  }
}
