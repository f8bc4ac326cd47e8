import Codecs
import CoreDataModel
import Foundation
import RunSupport

/// Reads models from the sources of SwiftData: classes with `@Model`, and the schemas that name them.
public struct SwiftDataReader: ModelFormat {
  private let known: KnownTypes
  private let types: [String]
  private let flags: Set<String>
  private let cache = SourceCache()

  /// `types`: what types that sources do not declare are stored as, `NAME=String` or `NAME={a: Double, b: Int?}`.
  /// `flags`: what is true in `#if`.
  ///
  /// - Throws: ``BatchError`` (`badModel`) if a type or a condition cannot be read.
  public init(types: [String] = [], flags: [String] = []) throws {
    known = try KnownTypes(named: types)
    self.types = types
    self.flags = try ConditionFlag.texts(flags)
  }

  /// What it was told besides the sources, as commands take it.
  private var options: [String] {
    (types.isEmpty ? [] : ["--swift-types"] + types) + flags.sorted().flatMap { ["--define", $0] }
  }

  /// Whether the path names sources of Swift: a file, a folder without a model of Xcode, or either with `@` and a
  /// commit.
  public func reads(_ path: String) -> Bool { SourcePath(path) != nil }

  /// Everything that the models follow from: what the reader was told, the bytes of files, and names of commits.
  ///
  /// - Throws: ``BatchError`` (`badModel`) when a file or a commit cannot be read.
  public func mark(of paths: [String]) throws -> String {
    var digest = SHA256()
    func add(_ bytes: [UInt8]) {
      digest.update(Array("\(bytes.count) ".utf8))
      digest.update(bytes)
    }
    for word in options + paths { add(Array(word.utf8)) }
    for source in paths.compactMap(SourcePath.init) {
      guard source.revision == nil else {
        add(Array(try GitSources(source).commit().utf8))
        continue
      }
      for text in try texts(of: source) {
        add(Array(text.path.utf8))
        add(text.bytes)
      }
    }
    return Data(digest.finalize()).base64EncodedString()
  }

  /// One model: the versions of the files as they are, and those of each commit that is named.
  ///
  /// - Throws: ``BatchError`` (`badModel`), with file and line for what cannot be read.
  public func read(_ paths: [String]) throws -> [ModelBundle] {
    let sources = paths.compactMap(SourcePath.init)
    var revisions: [String?] = []
    for source in sources where !revisions.contains(source.revision) { revisions.append(source.revision) }
    var (history, migrations) = (VersionHistory(), DeclaredMigrations())
    // The files as they are come after all commits, wherever they are named.
    for revision in revisions.sorted(by: { $0 != nil && $1 == nil }) {
      let found = try schema(of: sources.filter { $0.revision == revision })
      guard !found.versions.isEmpty else {
        throw BatchError(
          .badModel, "there is no class with @Model in these sources", hint: "Name the folder of the models",
          path: paths[0])
      }
      history.add(found.versions, revision: revision)
      found.declare(&migrations)
    }
    let main = sources.first { $0.revision == nil } ?? sources[0]
    let name = PackageFolders.stem(URL(fileURLWithPath: main.path).standardizedFileURL.path)
    var bundle = ModelBundle(
      path: paths[0], name: name, versions: history.versions, currentVersion: history.current)
    migrations.places = history.places
    (bundle.migrations, bundle.paths, bundle.options) = (migrations, paths, options)
    return [bundle]
  }

  /// The versions and the migration plan of sources of one commit.
  ///
  /// - Throws: ``BatchError`` (`badModel`), with file and line for what cannot be read.
  package func schema(paths: [String]) throws -> SwiftDataSchema { try schema(of: paths.compactMap(SourcePath.init)) }

  private func schema(of sources: [SourcePath]) throws -> SwiftDataSchema { try schema(texts: texts(of: sources)) }

  /// Each file once.
  private func texts(of sources: [SourcePath]) throws -> [SourceText] {
    var seen: Set<String> = []
    return try sources.flatMap(texts).filter { seen.insert($0.path).inserted }
  }

  /// Where the files as they are declare versions, entities and properties. Commits have no files to look at.
  ///
  /// - Throws: ``BatchError`` (`badModel`), with file and line for what cannot be read.
  public func places(of paths: [String]) throws -> ModelPlaces {
    let sources = paths.compactMap(SourcePath.init).filter { $0.revision == nil }
    return try SchemaReader(files: files(of: texts(of: sources)), known: known).places()
  }

  func schema(texts: [SourceText]) throws -> SwiftDataSchema {
    try SchemaReader(files: files(of: texts), known: known).read()
  }

  private func files(of texts: [SourceText]) throws -> [SourceFile] {
    try DeepThreads.map(texts) { [flags, cache] text in
      if let contents = text.blob.flatMap(cache.contents) { return SourceFile(path: text.path, contents: contents) }
      let contents = try SourceParser.contents(of: text, flags: flags)
      if let blob = text.blob { cache.keep(contents, of: blob) }
      return SourceFile(path: text.path, contents: contents)
    }
  }

  private func texts(of source: SourcePath) throws -> [SourceText] {
    guard source.revision == nil else { return try GitSources(source).texts { cache.contents(of: $0) != nil } }
    guard PackageFolders.isFolder(source.path) else { return try SourceText.read([source.path]) }
    return try SourceText.read(SourceFolder.files(below: source.path))
  }
}
