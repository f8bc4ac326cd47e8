import CompiledMappings
import Foundation

@testable import Codecs
@testable import CoreDataModel
@testable import MappingModels

/// An application of our own: sources with a model of three versions, mapping models as sources and compiled, policies
/// as an iOS developer writes them, and a schema of SwiftData; and what Xcode would make of it.
struct ApplicationFolder {
  /// The path of the sources.
  let path: String

  private static let policies = """
    import CoreData

    @objc(LibraryBookPolicy)
    final class LibraryBookPolicy: NSEntityMigrationPolicy {
      override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
      ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
      }
    }

    class UserPolicy: LibraryBookPolicy {}

    """

  init(in folder: CommandFolder, hasSwiftData: Bool = true) throws {
    path = folder.file("App")
    let files = FileManager.default
    for name in ["App.xcodeproj", "App/Policies"] {
      try files.createDirectory(atPath: path + "/" + name, withIntermediateDirectories: true)
    }
    try files.copyItem(atPath: ExampleFolder.models, toPath: path + "/App/Library.xcdatamodeld")
    try files.copyItem(atPath: ExampleFolder.mappings, toPath: path + "/App/Mappings")
    try Self.policies.write(toFile: path + "/App/Policies/BookPolicies.swift", atomically: true, encoding: .utf8)
    try Self.compile(into: path + "/App/Mappings", names: ["Library2_to_Library3_User"])
    try files.removeItem(atPath: path + "/App/Mappings/Library2_to_Library3_User.xcmappingmodel")
    guard hasSwiftData else { return }
    try files.copyItem(atPath: ExampleFolder.root + "/Examples/SchemaGuard/Sources/Trips", toPath: path + "/Trips")
  }

  /// Writes mapping models of the example as Xcode compiles them; `policies` are further ones of all their entities, by
  /// the mapping model.
  static func compile(into folder: String, names: [String], policies: [String: String] = [:]) throws {
    let versions = try ModelReader.read(path: ExampleFolder.models)[0].versions
    for name in names {
      var model = try MappingModelReader.read(path: "\(ExampleFolder.mappings)/\(name).xcmappingmodel")[0]
      let source = versions.first { $0.name == model.sourceModelName }
      let destination = versions.first { $0.name == model.destinationModelName }
      for index in model.entityMappings.indices {
        model.entityMappings[index].policyClassName = policies[name] ?? model.entityMappings[index].policyClassName
      }
      // Compiled ones know versions by hashes alone.
      let entities = model.entityMappings
      model.sourceHashes =
        source?.versionHashes.filter { hash in entities.contains { $0.sourceEntity == hash.key } } ?? [:]
      model.destinationHashes =
        destination?.versionHashes.filter { hash in entities.contains { $0.destinationEntity == hash.key } } ?? [:]
      try CompiledMappingFile(source: source).write(model, to: "\(folder)/\(name).cdm")
    }
  }

  /// The files of the compiled application, by their paths in an archive.
  static func compiled(policies: [String: String] = [:]) throws -> [String: [UInt8]] {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("compiled-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let names = ["Library1_to_Library2", "Library2_to_Library3", "Library2_to_Library3_User"]
    try compile(into: folder, names: names, policies: policies)
    let bundle = try ModelReader.read(path: ExampleFolder.models)[0]
    let home = "Payload/App.app/"
    var files = [home + "Info.plist": Array("<plist/>".utf8), home + "App": [UInt8](repeating: 7, count: 3000)]
    for version in bundle.versions {
      files[home + "Library.momd/\(version.name).mom"] = CompiledModelWriter.write(version).bytes
    }
    files[home + "Library.momd/VersionInfo.plist"] = PropertyListWriter.write(
      .dictionary(["NSManagedObjectModel_CurrentVersionName": .string(bundle.currentVersion ?? "")]))
    for name in names { files[home + name + ".cdm"] = [UInt8](try CommandFolder.bytes("\(folder)/\(name).cdm")) }
    return files
  }
}
