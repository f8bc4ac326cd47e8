import Codecs
import Migrations
import RunSupport
import Streams

/// The files that say how stores are migrated: models, mapping models, stages, lists of versions.
public enum FleetInputs {
  private static let (depth, cap) = (32, 64 << 20)

  /// SHA-256 of their names and contents, in hexadecimal, folders with all in them: the same for the same files
  /// wherever they lie.
  ///
  /// - Throws: ``BatchError``: what the disk throws, and `refused` for more than any models are.
  public static func digest(_ paths: [String], _ fileSystem: any FileSystem = LocalFileSystem()) throws -> String {
    try BatchError.border {
      var (hash, left) = (SHA256(), cap)
      func add(_ path: String, as name: String, depth: Int) throws {
        guard depth < Self.depth, left > 0 else {
          throw BatchError(
            .refused, "there is more in it than models are", hint: "Name the models themselves",
            effect: .nothingWritten,
            path: path)
        }
        if try fileSystem.status(path)?.isDirectory == true {
          for inner in try fileSystem.list(path) {
            try add(FilePaths.join(path, inner), as: name + "/" + inner, depth: depth + 1)
          }
        } else {
          // Objects in a store that is named for its model are none of the fleet's business.
          let isStore = try depth == 0 && StoreDocument.isStore(path)
          let bytes = try isStore ? StoreDocument.compiled(path) : fileSystem.readAll(path, cap: left)
          left -= bytes.count
          hash.update(Array("\(name)\n\(bytes.count)\n".utf8))
          hash.update(bytes)
        }
      }
      for path in paths { try add(path, as: FilePaths.name(of: path), depth: 0) }
      return SHA256.text(hash.finalize())
    }
  }
}

extension SHA256 {
  /// A digest in hexadecimal.
  static func text(_ digest: [UInt8]) -> String { digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
