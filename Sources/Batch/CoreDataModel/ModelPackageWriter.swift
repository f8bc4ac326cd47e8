import Foundation
import RunSupport

/// Writes data models as the folders that Xcode opens (C.1).
public enum ModelPackageWriter {
  /// Writes an `.xcdatamodel` with its file `contents`. Nothing may be at `path`, and nothing is left there by a
  /// failure.
  ///
  /// - Throws: ``BatchError``: `refused` when something is there or the name is unsuited, `badModel` for what
  ///   ``ModelXMLWriter/contents(of:)`` refuses, `failed` when the folder cannot be written.
  public static func write(_ model: ManagedObjectModel, to path: String) throws {
    try write(["contents": ModelXMLWriter.contents(of: model)], to: path, extension: "xcdatamodel")
  }

  /// Writes an `.xcdatamodeld` with one `.xcdatamodel` for every version, and `.xccurrentversion`. The same rules
  /// apply; the versions' names must differ and be names of files.
  ///
  /// - Throws: ``BatchError``.
  public static func write(_ bundle: ModelBundle, to path: String) throws {
    var files: [String: String] = [:]
    for version in bundle.versions {
      let file = "\(try fileName(version.name)).xcdatamodel/contents"
      guard files.updateValue(try ModelXMLWriter.contents(of: version), forKey: file) == nil else {
        throw BatchError(.refused, "two versions are named \(version.name)", hint: "Rename one of them", path: path)
      }
    }
    if let current = bundle.currentVersion {
      guard bundle.versions.contains(where: { $0.name == current }) else {
        throw BatchError(.refused, "the current version \(current) is not in the model", path: path)
      }
      files[".xccurrentversion"] = try currentVersion(current)
    }
    try write(files, to: path, extension: "xcdatamodeld")
  }

  private static func fileName(_ name: String) throws -> String {
    guard !name.isEmpty, !name.hasPrefix("."), !name.contains("/"), !name.contains("\0"), name.utf8.count < 200 else {
      throw BatchError(
        .refused, "the version name \(name.debugDescription) is no name of a file",
        hint: "Give the version another name")
    }
    return name
  }

  private static func currentVersion(_ name: String) throws -> String {
    let list = ["_XCCurrentVersionName": name + ".xcdatamodel"]
    let data = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
    return String(decoding: data, as: UTF8.self)
  }

  /// Writes the files into a folder beside the path and gives it its name when it is whole.
  private static func write(_ files: [String: String], to path: String, extension suffix: String) throws {
    let manager = FileManager.default
    guard (path as NSString).pathExtension == suffix else {
      throw BatchError(.refused, "the folder's name does not end with .\(suffix)", path: path)
    }
    guard (try? manager.attributesOfItem(atPath: path)) == nil else {
      throw BatchError(.refused, "something is there already", hint: "Choose another path", path: path)
    }
    let parent = (path as NSString).deletingLastPathComponent
    let draft = (parent as NSString).appendingPathComponent(".\(UUID().uuidString).\(suffix)-draft")
    defer { try? manager.removeItem(atPath: draft) }
    do {
      for (name, text) in files {
        let file = URL(fileURLWithPath: draft).appendingPathComponent(name)
        try manager.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
      }
      try manager.moveItem(atPath: draft, toPath: path)
    } catch { throw BatchError(.failed, "the model cannot be written", path: path, cause: error) }
  }
}
