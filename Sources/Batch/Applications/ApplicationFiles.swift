import CoreDataModel
import RunSupport
import Streams

/// The files of an application that may say something of its data, by their names. Links are not followed, and hidden
/// folders are left out, as is what Xcode keeps elsewhere.
struct ApplicationFiles {
  private static let (deepest, most) = (32, 500_000)
  private static let left: Set<String> = ["DerivedData", "node_modules"]

  private(set) var models: [String] = []
  private(set) var mappings: [String] = []
  /// YAML and JSON, for whatever purpose.
  private(set) var texts: [String] = []
  private(set) var swift: [String] = []
  private(set) var objectiveC: [String] = []
  private var count = 0

  /// Looks through a folder, or at a document that is one.
  ///
  /// Throws ``BatchError`` (`refused`) for a folder with more files than an application has.
  init(below path: String) throws {
    if !take(path, isFolder: PackageFolders.isFolder(path)) { try look(path, depth: 0) }
  }

  private mutating func look(_ folder: String, depth: Int) throws {
    let disk = LocalFileSystem()
    // What this user may not read is not the application's.
    guard depth < Self.deepest, let names = try? disk.list(folder) else { return }
    for name in names where !name.hasPrefix(".") {
      let path = FilePaths.join(folder, name)
      guard let status = try? disk.statusOfName(path), status.isDirectory || status.isRegularFile else { continue }
      count += 1
      guard count <= Self.most else {
        throw BatchError(
          .refused, "the folder holds more than \(Self.most.grouped) files",
          hint: "Name the folder of one application", effect: .nothingWritten, path: folder)
      }
      guard !take(path, isFolder: status.isDirectory), status.isDirectory, !Self.left.contains(name) else { continue }
      try look(path, depth: depth + 1)
    }
  }

  /// Whether it is one of the files that are looked for.
  private mutating func take(_ path: String, isFolder: Bool) -> Bool {
    switch (FilePaths.name(of: path).split(separator: ".").last.map(String.init) ?? "", isFolder) {
    case ("xcdatamodeld", true), ("xcdatamodel", true), ("momd", true), ("mom", false): models.append(path)
    case ("xcmappingmodel", true), ("cdm", false): mappings.append(path)
    case ("yaml", false), ("yml", false), ("json", false): texts.append(path)
    case ("swift", false): swift.append(path)
    case ("m", false), ("mm", false), ("h", false): objectiveC.append(path)
    default: return false
    }
    return true
  }
}
