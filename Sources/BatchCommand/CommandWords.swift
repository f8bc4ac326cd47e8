import ArgumentParser
import Batch
import Foundation

/// What the words of a line mean where the argument parser would take them for something else.
enum CommandWords {
  /// Options that take all words up to the next option. Of paths the extensions are known.
  private static let options: [String: [String]] = [
    "--models": LineContents.modelExtensions, "--mappings": LineContents.mappingExtensions, "--drop": [], "--only": [],
    "--skip": [],
  ]

  /// The command of a line. A store after `--models A B` is none of the models: if the line lacks one, words that such
  /// an option took go to the command itself.
  ///
  /// What a file `godwit.yaml` says is added; `options` are those of a line's command, with their dashes. Throws the
  /// parser's error about the line as it is, and what is wrong with the file.
  static func parse(
    _ words: [String], by root: any ParsableCommand.Type, options: (_ line: [String]) throws -> Set<String>
  ) throws -> any ParsableCommand {
    ProjectFile.seen = nil
    if let unknown = unknownCommand(words, of: root) { throw unknown }
    let (command, line) = try parsed(words, by: root)
    guard let models = command as? any ModelCommand, models.readsProject, !models.named.ignoresConfig,
      let file = try ProjectFile.find(named: models.named.config, store: models.place)
    else { return command }
    ProjectFile.seen = file.path
    let added = try ProjectOptions(file, line: line, takesMappings: models.takesMappings, options: options(line))
    guard !added.words.isEmpty else { return command }
    CommandLineWords.complete(added.words, models: added.modelWords)
    do {
      let completed = try root.parseAsRoot(added.adding(added.words, to: line))
      if let note = added.note { Console.note(note) }
      return completed
    } catch {
      throw added.told(error) {
        _ = try root.parseAsRoot(added.adding($0, to: line))
      } message: {
        root.message(for: $0)
      }
    }
  }

  /// The command, and the line that gives it.
  private static func parsed(
    _ words: [String], by root: any ParsableCommand.Type
  ) throws -> (any ParsableCommand, [String]) {
    do {
      let command = try root.parseAsRoot(words)
      // A name that is nowhere as a file is the command's own, if the command has a place for it.
      for line in readings(words) where line.last.map(isBareName) == true {
        if let other = try? root.parseAsRoot(line) { return (other, line) }
      }
      return (command, words)
    } catch {
      for line in readings(words) {
        if let command = try? root.parseAsRoot(line) { return (command, line) }
      }
      throw error
    }
  }

  /// The line with the last words of an option set apart, for each place from which they may be the command's own.
  static func readings(_ words: [String]) -> [[String]] {
    guard !words.contains("--") else { return [] }
    return words.indices.flatMap { start -> [[String]] in
      guard let extensions = options[words[start]] else { return [] }
      let end = words[(start + 1)...].firstIndex { $0.hasPrefix("-") } ?? words.count
      // The first word is the option's.
      return (start + 1..<end).dropFirst().filter { isOther(words[$0], extensions) }.map {
        words[..<$0] + words[end...] + ["--"] + words[$0..<end]
      }
    }
  }

  /// Whether a word can be a name and no path.
  private static func isBareName(_ word: String) -> Bool {
    word.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } && !FileManager.default.fileExists(atPath: word)
  }

  /// Whether a word is no model or mapping model. Among names, a store is what is there as a file.
  private static func isOther(_ word: String, _ extensions: [String]) -> Bool {
    let isFolder = PackageFolders.isFolder(word)
    guard !extensions.isEmpty else { return !isFolder && FileManager.default.fileExists(atPath: word) }
    return !isFolder && !extensions.contains((word as NSString).pathExtension)
  }

  /// What is wrong with a command that does not exist: the parser would only count the words.
  private static func unknownCommand(
    _ words: [String], of root: any ParsableCommand.Type
  ) -> ValidationError? {
    var command = root
    for word in words {
      let subcommands = command.configuration.subcommands
      guard !subcommands.isEmpty, !word.hasPrefix("-"), word != "help" else { return nil }
      guard let next = subcommands.first(where: { $0.configuration.commandName == word }) else {
        let near = NearName.question(word, in: subcommands.compactMap { $0.configuration.commandName })
        return ValidationError("There is no command \(word)\(near)")
      }
      command = next
    }
    return nil
  }
}
