import ArgumentParser

/// A list of stores, in the place of one.
struct ListArguments: ParsableArguments {
  @Option(name: .long, help: .manifest, completion: .file()) var manifest: String?
  @Option(name: .long, help: .jobs) var jobs = 1

  func validate() throws {
    guard jobs >= 1 else { throw ValidationError("--jobs is 1 or more") }
  }

  /// Throws unless there is either a store or a list.
  func check(_ store: String?) throws {
    guard (store == nil) != (manifest == nil) else {
      throw ValidationError("Name a store, or a list of stores with --manifest")
    }
  }
}
