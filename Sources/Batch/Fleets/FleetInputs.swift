import Codecs
import CoreDataModel
import Migrations
import RunSupport
import Streams

/// The files that say how stores are migrated: models, mapping models, stages, lists of versions.
public enum FleetInputs {
  private static let (depth, cap) = (32, 64 << 20)

  /// SHA-256 of their names and contents, in hexadecimal, folders with all in them but hidden files. Of sources that the
  /// registered ``ModelFormat`` reads it is their mark, which has their paths and the names of commits; all else may lie
  /// anywhere.
  ///
  /// - Throws: ``BatchError``: what the disk throws, and `refused` for more than any models are.
  public static func digest(_ paths: [String], _ fileSystem: any FileSystem = LocalFileSystem()) throws -> String {
    try BatchError.border {
      var (hash, left) = (SHA256(), cap)
      for path in paths {
        let name = FilePaths.name(of: path)
        if let format = ModelFormats.format(of: path) {
          add(Array(try format.mark(of: [path]).utf8), as: name, to: &hash)
        } else if try StoreDocument.isStore(path) {
          // Objects in a store that is named for its model are none of the fleet's business.
          add(try StoreDocument.compiled(path), as: name, to: &hash)
        } else {
          for (path, name) in try files(path, as: name, depth: 0, fileSystem) {
            guard try fileSystem.status(path)?.size ?? 0 <= left else { throw tooMuch(path) }
            let bytes = try fileSystem.readAll(path, cap: left)
            left -= bytes.count
            add(bytes, as: name, to: &hash)
          }
        }
      }
      return hash.finalize().hexadecimal
    }
  }

  private static func add(_ bytes: [UInt8], as name: String, to hash: inout SHA256) {
    hash.update(Array("\(name)\n\(bytes.count)\n".utf8))
    hash.update(bytes)
  }

  /// The file, or those in the folder, each with its name from there.
  private static func files(
    _ path: String, as name: String, depth: Int, _ fileSystem: any FileSystem
  ) throws -> [(path: String, name: String)] {
    guard try fileSystem.status(path)?.isDirectory == true else { return [(path, name)] }
    guard depth < Self.depth else { throw tooMuch(path) }
    return try fileSystem.list(path).filter { !isHidden($0) }.flatMap {
      try files(FilePaths.join(path, $0), as: name + "/" + $0, depth: depth + 1, fileSystem)
    }
  }

  /// What no model is made of; Xcode says which version is the current one in a hidden file.
  private static func isHidden(_ name: String) -> Bool { name.hasPrefix(".") && name != ".xccurrentversion" }

  private static func tooMuch(_ path: String) -> BatchError {
    BatchError(
      .refused, "there is more in it than models are", hint: "Name the models themselves", effect: .nothingWritten,
      path: path)
  }
}
