/// What is read as one: a document of Xcode's, or all paths of another form.
package enum ModelSource: Sendable {
  case document(String)
  case others([String], any ModelFormat)

  /// Throws ``BatchError`` with the code `badModel` when it cannot be read.
  package func bundles() throws -> [ModelBundle] {
    switch self {
    case .document(let path): [try ModelReader.bundle(path)]
    case .others(let paths, let format): try format.read(paths)
    }
  }
}
