import RunSupport
import Streams

extension BatchError {
  /// The error with what a person knows in the place of what a load has in its folder, which is gone afterwards: the
  /// store that was named for the one that was made of it, and the path of the result for the file.
  func naming(_ place: PlainPlace, source: String, version: String) -> BatchError {
    func named(_ text: String) -> String {
      text.replacing(place.migratedStore, with: source).replacing(place.file, with: place.path)
    }
    var error = self
    let isMigrated = path?.hasPrefix(place.migratedStore) == true
    error.path = path.map { path in
      isMigrated
        ? source : path == place.file ? place.path : path.hasPrefix(place.folder.path + "/") ? source : path
    }
    (error.message, error.hint) = (named(message), hint.map(named))
    // Keys and entities are those of the new version.
    if isMigrated, entity != nil { error.message += " (after the migration to \(version))" }
    return error
  }
}
