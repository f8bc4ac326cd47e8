import Foundation

/// An application of the corpus: its sources, and a store of each of two versions.
enum MyHome {
  private static let root = ExampleCorpus.root + "/swiftdata/nobelnrj+myhome"
  static let sources = root + "/sources-c71461d2/MyHomeApp/Persistence"

  /// A copy of a store that may be written to; returns its path.
  static func copy(_ name: String, to folder: CommandFolder) throws -> String {
    let store = folder.file(name)
    try FileManager.default.copyItem(atPath: "\(root)/\(name)", toPath: store)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: store)
    return store
  }
}
