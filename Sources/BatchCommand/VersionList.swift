import Batch
import Foundation

/// The versions that `--versions` names.
enum VersionList {
  private static let mostBytes: UInt64 = 1 << 20

  /// Names joined by commas, or those in a file, one on each line.
  static func names(_ argument: String) throws -> [String] {
    let isFile = isFile(argument)
    let text = isFile ? try read(argument) : argument
    let names = text.split { isFile ? $0.isNewline : $0 == "," }.map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty }
    guard !names.isEmpty else {
      throw BatchError(
        .noModel, "--versions names no version", hint: "Name them as A,B,C, or one on each line of a file",
        path: isFile ? argument : nil)
    }
    return names
  }

  /// Whether it is the path of a file, and not a list.
  static func isFile(_ argument: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: argument, isDirectory: &isFolder) && !isFolder.boolValue
  }

  private static func read(_ path: String) throws -> String {
    let size = (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? UInt64 ?? 0
    guard size <= mostBytes, let data = FileManager.default.contents(atPath: path),
      let text = String(validating: data, as: UTF8.self)
    else {
      throw BatchError(
        .noModel, "the list of versions cannot be read, is no UTF-8 or larger than 1 MiB",
        hint: "Name the versions as A,B,C",
        path: path)
    }
    return text
  }
}
