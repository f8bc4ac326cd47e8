import Batch
import Streams

extension Application {
  /// The path of a mapping model by its path in the application.
  ///
  /// Throws ``BatchError``: `badMapping` for one that cannot be read, `noSuchFile` for none.
  func mapping(at place: String) throws -> String {
    if let found = mappings.first(where: { $0.place == place }) { return found.path }
    if let unread = problems.first(where: { $0.place == place && $0.mapping != nil }) {
      throw BatchError(
        .badMapping, "the mapping model \(place) cannot be read: \(unread.reason)",
        hint: "Put a sound copy in its place", effect: .nothingWritten, path: path)
    }
    let near = NearName.question(place, in: mappings.map(\.place))
    throw BatchError(
      .noSuchFile, "the application has no mapping model \(place)\(near)",
      hint: "Name one by its path there: \(ProgramName.command("app", path)) lists them", effect: .nothingWritten,
      path: path)
  }

  /// What to do about mapping models that cannot be read: a sentence with the command that goes without them. What was
  /// unpacked for this command is gone when another one asks for it.
  func wayOut(models: [String], mappings: [String]) -> String {
    let mend = "Put a sound copy in its place. To go without it, name all that is wanted: "
    guard !isInPlace else { return mend + "\(CommandLineWords.exchanging(models: models, mappings: mappings))" }
    let folder = path + ".unpacked"
    func paths(_ found: [String]) -> [String] { found.map { FilePaths.join(folder, place(of: $0)) } }
    let command = CommandLineWords.exchanging(models: paths(models), mappings: paths(mappings))
    return mend
      + "\(AdvisedCommand(line: "\(ShellWords.line(["unzip", "-q", path, "-d", folder])) && \(command.line)"))"
  }
}
