import ArgumentParser
import Streams

/// The options of the command before: a list gives the same to each of its stores, and to read them takes a while. Stores
/// of another folder may have a file of options beside them.
struct RepeatedOptions {
  private var words: [String] = []
  private var folder = ""
  private var command: (any ListedCommand)?

  /// The command of a line. `options` are those of a line's command, with their dashes.
  ///
  /// Throws the parser's error, and what is wrong with a file of options.
  mutating func parse(
    _ line: [String], by root: any ParsableCommand.Type, options known: (_ line: [String]) throws -> Set<String>
  ) throws -> any ParsableCommand {
    let options = Array(line.dropFirst(2))
    let folder = line.count > 1 ? FilePaths.directory(of: line[1]) : ""
    if var command, options == words, folder == self.folder, line.first == Self.name(command), line.count > 1,
      !line[1].hasPrefix("-")
    {
      command.store = line[1]
      return command
    }
    let parsed = try CommandWords.parse(line, by: root, options: known)
    // The store stands first, as StoreCommandWords puts it.
    if let found = parsed as? any ListedCommand, line.first == Self.name(found), line.count > 1, found.store == line[1]
    {
      (words, self.folder, command) = (options, folder, found)
    }
    return parsed
  }

  private static func name(_ command: some ListedCommand) -> String? { type(of: command).configuration.commandName }
}
