import ArgumentParser
import Batch

/// A command that takes models, and so what a file `godwit.yaml` says of them.
protocol ModelCommand: ParsableCommand {
  var named: ModelArguments { get }
  /// The store beside which the file may lie.
  var place: String? { get }
  /// Whether mapping models mean anything to it.
  var takesMappings: Bool { get }
}

extension ModelCommand {
  var place: String? { nil }
  var takesMappings: Bool { true }

  /// The command with the options of its file; itself if there is none.
  ///
  /// Throws ``BatchError``: what is wrong with the file.
  static func completed(
    _ command: any ModelCommand, line: [String], by root: any ParsableCommand.Type
  ) throws -> any ParsableCommand {
    guard !command.named.noConfig, let file = try ProjectFile.find(named: command.named.config, store: command.place)
    else { return command }
    let options = try ProjectOptions(
      file, for: CommandShape.root().inner(line), line: line, takesMappings: command.takesMappings)
    guard !options.words.isEmpty else { return command }
    let whole = options.added(to: line, options.words)
    do {
      let completed = try root.parseAsRoot(whole)
      if let note = options.note { Console.note(note) }
      return completed
    } catch {
      throw options.told(error) {
        _ = try root.parseAsRoot(options.added(to: line, $0))
      } message: {
        root.message(for: $0)
      }
    }
  }
}
