import CoreDataModel
import Foundation
import MappingModels
import Migrations
import RunSupport
import Streams

/// What an application says of its data: a source tree, or what was made of it.
package struct Application: Sendable {
  /// A data model.
  package struct Model: Sendable {
    /// Paths that commands take; several for sources of Swift that lie in many folders.
    package var paths: [String]
    /// The path in the application.
    package var place: String
    package var bundle: ModelBundle
    /// Where the same versions are once more.
    package var copies: [String] = []
  }

  /// A mapping model.
  package struct Mapping: Sendable, Equatable {
    package var path: String
    /// The path in the application.
    package var place: String
    package var model: MappingModel
    /// Whether a person wrote it for this program.
    package var isWritten: Bool
  }

  /// A policy in the sources.
  package struct Policy: Sendable, Equatable {
    package var name: String
    /// The path in the application, and the line.
    package var place: String
    package var path: String
    /// Why it cannot be compiled; nil if it can.
    package var obstacle: String?

    /// Swift's classes may stand in mapping models with their module.
    static func short(_ name: String) -> String { name.split(separator: ".").last.map(String.init) ?? name }
  }

  /// A file that looks like one of these, and cannot be read.
  package struct Problem: Sendable, Equatable {
    package var place: String
    package var reason: String
    /// What to do about it, if that is known.
    package var hint: String?
    /// What can be told of a mapping model.
    package var mapping: UnreadMapping?
  }

  /// As it was named.
  package let path: String
  /// What it is, as `app`, `Xcode project` or `folder`.
  package let kind: String
  package private(set) var models: [Model] = []
  package private(set) var mappings: [Mapping] = []
  package private(set) var policies: [Policy] = []
  package private(set) var problems: [Problem] = []
  /// The folder that is looked through.
  private let root: String

  /// Looks through an application: a folder with sources, `.xcodeproj`, `.xcworkspace` or `Package.swift` of such a
  /// folder, `.app`, `.xcarchive`, or an archive as `.ipa`, of which the models are unpacked.
  ///
  /// Throws ``BatchError``: `noSuchFile`, `refused` for what is no application, `badModel` for a hostile archive.
  package init(path: String) throws {
    self.path = path
    try PackageFolders.refuseMissing(path)
    (root, kind) = try Self.root(path)
    let files = try ApplicationFiles(below: root)
    for path in files.models { addModel(path) }
    addSwiftData(SwiftDataSources(files.swift))
    // Of two that say the same the one that people can read counts.
    let mappings =
      files.mappings.filter { $0.hasSuffix(".xcmappingmodel") } + files.mappings.filter { $0.hasSuffix(".cdm") }
    for path in mappings + files.texts.filter(MappingModelReader.isMappingFile) { addMapping(path) }
    self.mappings.sort { $0.place.utf8.lexicographicallyPrecedes($1.place.utf8) }
    // Types for Godwit's own protocol are policies of this application if a mapping model names them.
    let named = Set(self.mappings.flatMap { $0.model.entityMappings.compactMap(\.policyClassName).map(Policy.short) })
    policies = PolicySource.find(in: files.swift + files.objectiveC).filter { !$0.isOwn || named.contains($0.name) }
      .map {
        Policy(name: $0.name, place: "\(place(of: $0.path)):\($0.line)", path: $0.path, obstacle: $0.obstacle)
      }
  }

  /// The folder that places are in, as a person can name it.
  package var folder: String {
    guard isInPlace, root != URL(fileURLWithPath: path).standardizedFileURL.path else { return path }
    let parent = (path as NSString).deletingLastPathComponent
    return parent.isEmpty ? "." : parent
  }

  /// Whether its files are where commands can name them, and not unpacked for this process.
  package var isInPlace: Bool { PackageFolders.isFolder(path) || FilePaths.name(of: path) == "Package.swift" }

  /// The files that declare policies, each once.
  package func policySources(of names: [String]) -> [String] {
    Set(policies.filter { names.contains($0.name) }.map(\.path)).sorted()
  }

  private static func root(_ path: String) throws -> (root: String, kind: String) {
    let (whole, suffix) = (URL(fileURLWithPath: path).standardizedFileURL.path, (path as NSString).pathExtension)
    let parent = (whole as NSString).deletingLastPathComponent
    guard PackageFolders.isFolder(path) else {
      if (path as NSString).lastPathComponent == "Package.swift" { return (parent, "Swift package") }
      let isFile = try LocalFileSystem().status(path)?.isRegularFile == true
      guard isFile, UnpackedArchive.isArchive(path) else {
        throw BatchError(
          .refused, "this is no application",
          hint: "Name a folder with its sources, an .app, an .ipa or an .xcarchive", effect: .nothingWritten,
          path: path)
      }
      return (try UnpackedArchive.unpack(path), suffix == "ipa" ? "ipa" : "zip archive")
    }
    switch suffix {
    case "xcodeproj": return (parent, "Xcode project")
    case "xcworkspace": return (parent, "Xcode workspace")
    case "app", "xcarchive": return (whole, suffix)
    default: break
    }
    let names = (try? LocalFileSystem().list(whole)) ?? []
    for (end, kind) in [(".xcodeproj", "Xcode project"), (".xcworkspace", "Xcode workspace")]
    where names.contains(where: { $0.hasSuffix(end) }) {
      return (whole, kind)
    }
    return (whole, names.contains("Package.swift") ? "Swift package" : "folder")
  }

  /// A path as messages name it: in the application.
  package func place(of path: String) -> String {
    path == root
      ? FilePaths.name(of: self.path)
      : path.hasPrefix(root + "/") ? String(path.dropFirst(root.count + 1)) : FilePaths.name(of: path)
  }

  private mutating func note(_ error: any Error, _ path: String, isMapping: Bool = false) {
    var error = BatchError(wrapping: error).withoutEffect
    let place = place(of: path)
    // What lies in a folder that is one document is named from there.
    error.path = error.path.map(self.place).flatMap { inner in
      inner == place ? nil : inner.hasPrefix(place + "/") ? String(inner.dropFirst(place.count + 1)) : inner
    }
    let reason = "\(error.withoutAdvice)"
    problems.append(
      Problem(
        place: place, reason: reason, hint: isMapping ? nil : error.hint,
        mapping: isMapping ? UnreadMapping(path: path, place: place, reason: reason) : nil))
  }

  private mutating func addModel(_ path: String) {
    do { add([path], try ModelReader.bundle(path)) } catch { note(error, path) }
  }

  /// The first reading of the sources that works; if none does, what is wrong with the first one.
  private mutating func addSwiftData(_ sources: SwiftDataSources) {
    var first: (error: any Error, path: String)?
    for reading in sources.readings {
      let count = models.count
      for paths in reading {
        do { for bundle in try ModelReader.read(paths: paths) { add(paths, bundle) } } catch {
          first = first ?? (error, paths[0])
        }
      }
      if models.count > count { return }
    }
    if let first { note(first.error, first.path) }
  }

  private mutating func add(_ paths: [String], _ bundle: ModelBundle) {
    let place = place(of: paths.count == 1 ? paths[0] : SwiftDataSources.folder(of: paths))
    var bundle = bundle
    // What was unpacked has no path that a person knows.
    if !isInPlace { bundle.path = FilePaths.join(path, place) }
    // What was built lies beside its sources.
    if let twin = models.firstIndex(where: { $0.bundle.isSame(as: bundle) }) {
      models[twin].copies.append(place)
    } else {
      models.append(Model(paths: paths, place: place, bundle: bundle))
    }
  }

  private mutating func addMapping(_ path: String) {
    do {
      for model in try MappingModelReader.read(path: path) {
        let isWritten = !["xcmappingmodel", "cdm"].contains((path as NSString).pathExtension)
        let mapping = Mapping(path: path, place: place(of: path), model: model, isWritten: isWritten)
        guard isWritten || !mappings.contains(where: { $0.isTwin(of: mapping) }) else { continue }
        mappings.append(mapping)
      }
    } catch { note(error, path, isMapping: true) }
  }
}
