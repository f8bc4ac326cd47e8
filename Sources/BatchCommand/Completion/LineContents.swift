import Batch
import Foundation
import Streams

/// The models, mapping models and stores that a command line names, and the names in them. What cannot be read has
/// none.
struct LineContents {
  static let modelExtensions = ["xcdatamodeld", "xcdatamodel", "momd", "mom", "swift"]
  static let storeExtensions = ["store", "sqlite"]
  static let mappingExtensions = ["xcmappingmodel", "cdm", "yaml", "yml", "json"]

  static let archiveExtensions = ["ipa", "zip", "xcodeproj", "xcworkspace"]

  private let words: [String]

  /// `current` is the place of the word that is completed.
  init(_ words: [String], current: Int) {
    self.words = words.enumerated().filter { $0.offset != current }.map(\.element)
  }

  /// In their order; those of several models with one name as `Model/Version`.
  var versions: [String] {
    // A store is a model to commands that take one.
    let inApplications = applications.flatMap { model in model.bundle.versions.map { (model.bundle.name, $0.name) } }
    let paths = modelPaths.isEmpty ? words.dropFirst().map(Self.path).filter(Self.isDatabase) : modelPaths
    let found: [(model: String, name: String)] = inApplications.isEmpty ? paths.flatMap(Self.versions) : inApplications
    return found.map { version in
      found.count { $0.name == version.name } > 1 ? "\(version.model)/\(version.name)" : version.name
    }
  }

  /// Of all versions; of a store if no model is named.
  var entities: [String] {
    let models = models
    return models.isEmpty ? stored : Self.sorted(models.flatMap { $0.entities.map(\.name) })
  }

  /// Entities, or `Entity.property` once an entity is typed.
  func properties(_ typed: String) -> [String] {
    guard let dot = typed.firstIndex(of: ".") else { return entities }
    let name = String(typed[..<dot])
    let found = models.compactMap { $0.entity(name) }
    return Self.sorted(found.flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) }).map {
      "\(name).\($0)"
    }
  }

  /// Mapping models and their entity mappings, which stand for the parts that have them.
  var parts: [String] {
    let found = values(of: "--mappings").flatMap { (try? MappingModelReader.read(path: $0)) ?? [] }
    return Self.sorted(found.flatMap { [$0.name] + $0.entityMappings.map(\.name) })
  }

  /// Names of the models of an application.
  var bundles: [String] { Self.sorted(applications.map(\.bundle.name)) }

  private var models: [ManagedObjectModel] {
    (Self.bundles(modelPaths) + applications.map(\.bundle)).flatMap(\.versions)
  }

  /// Models of the applications that are folders: nothing is unpacked for a shell.
  private var applications: [Application.Model] {
    values(of: "--app").filter(PackageFolders.isFolder).flatMap { (try? Application(path: $0))?.models ?? [] }
  }

  private var modelPaths: [String] {
    let named = values(of: "--models")
    return named.isEmpty
      ? words.filter { Self.modelExtensions.contains(($0 as NSString).pathExtension) }.map(Self.path) : named
  }

  /// By the names of files where they are enough: a model may have a hundred versions.
  private static func versions(_ path: String) -> [(model: String, name: String)] {
    func stem(_ path: String) -> String { ((path as NSString).lastPathComponent as NSString).deletingPathExtension }
    let inner = ["xcdatamodeld": "xcdatamodel", "momd": "mom"]
    switch (path as NSString).pathExtension {
    case "xcdatamodel", "mom": return [(stem(path), stem(path))]
    case let kind where inner[kind] != nil:
      let files = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
      let names = files.filter { ($0 as NSString).pathExtension == inner[kind] }.map(stem)
      return NaturalOrder.versions(names, of: stem(path)) { $0 }.map { (stem(path), $0) }
    default:
      return bundles([path]).flatMap { bundle in bundle.versions.map { (bundle.name, $0.name) } }
    }
  }

  private static func bundles(_ paths: [String]) -> [ModelBundle] { (try? ModelLibrary(paths: paths))?.bundles ?? [] }

  /// The entities of the first store on the line. One with a rollback journal would have to be recovered first.
  private var stored: [String] {
    for path in words.dropFirst().map(Self.path) where Self.isDatabase(path) {
      guard let store = try? SourceStore.open(path, LocalFileSystem(), locking: .shared) else { continue }
      defer { store.close() }
      return Self.sorted(store.primaryKeys.map(\.name))
    }
    return []
  }

  private static func isDatabase(_ path: String) -> Bool {
    guard let file = FileHandle(forReadingAtPath: path), !FileManager.default.fileExists(atPath: path + "-journal")
    else {
      return false
    }
    defer { try? file.close() }
    return (try? file.read(upToCount: 15)) == Data("SQLite format 3".utf8)
  }

  /// The words after an option, up to the next one.
  private func values(of option: String) -> [String] {
    var (found, isOpen) = ([String](), false)
    for word in words {
      if word.hasPrefix("-") {
        isOpen = word == option
        if word.hasPrefix(option + "=") { found.append(String(word.dropFirst(option.count + 1))) }
      } else if isOpen {
        found.append(word)
      }
    }
    return found.map(Self.path)
  }

  private static func path(_ word: String) -> String { (word as NSString).expandingTildeInPath }

  private static func sorted(_ names: [String]) -> [String] {
    Set(names).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}
