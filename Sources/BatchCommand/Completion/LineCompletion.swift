import ArgumentParser

/// What can stand at the end of a command line: subcommands, options, or values.
struct LineCompletion {
  enum Offer {
    case words([Word])
    /// Folders, and files with one of the extensions; all files for none of them, folders alone for nil.
    case paths([String]?)
  }

  struct Word {
    var text: String
    var meaning: String?
  }

  /// What is typed before the value in the last word, as in `--to=Library`.
  private(set) var prefix = ""
  /// The part of the last word that the offer replaces.
  private(set) var typed: String
  /// Whether a quotation mark is open.
  let isQuoted: Bool

  private let words: [String]
  private var command: CommandShape
  private var path: [String] = []
  private var given: Set<String> = []
  private var open: CommandShape.Argument?
  private var needsValue = false
  private var positionals = 0
  private var isAfterTerminator = false

  init(_ line: ShellLine, of root: CommandShape) {
    (words, typed, isQuoted, command) = (line.words, line.last, line.isQuoted, root)
    for word in words.dropFirst() { read(word) }
    guard typed.hasPrefix("--"), !isAfterTerminator, let equals = typed.firstIndex(of: "=") else { return }
    open = command.option(named: String(typed[..<equals]))
    (prefix, typed) = (String(typed[...equals]), String(typed[typed.index(after: equals)...]))
    needsValue = true
  }

  var offer: Offer {
    if !needsValue, typed.hasPrefix("-"), !isAfterTerminator { return .words(options) }
    if let open { return values(of: open) }
    guard prefix.isEmpty else { return .words([]) }
    let subcommands = command.shownSubcommands
    guard subcommands.isEmpty else {
      return .words(positionals > 0 ? [] : subcommands.map { Word(text: $0.commandName, meaning: $0.abstract) })
    }
    let all = command.positionals
    if let next = positionals < all.count ? all[positionals] : all.last(where: \.isRepeating) {
      return values(of: next)
    }
    return .words(isAfterTerminator ? [] : options)
  }

  private mutating func read(_ word: String) {
    if word == "--", !isAfterTerminator {
      (isAfterTerminator, open) = (true, nil)
    } else if !isAfterTerminator, !needsValue, word.hasPrefix("-"), word.count > 1 {
      let name = String(word.prefix { $0 != "=" })
      given.insert(name)
      open = name == word ? command.option(named: name).flatMap { $0.kind == .option ? $0 : nil } : nil
      needsValue = open != nil
    } else if let option = open {
      needsValue = false
      if !option.takesSeveral { open = nil }
    } else if let next = command.shownSubcommands.first(where: { $0.commandName == word }) {
      (command, given) = (next, [])
      path.append(word)
    } else {
      positionals += 1
    }
  }

  /// Options that can be given, without those that are there.
  private var options: [Word] {
    command.options.filter { option in
      option.isRepeating || option.names?.contains { given.contains($0.word) } != true
    }
    .compactMap { option in option.preferredName.map { Word(text: $0.word, meaning: option.abstract) } }
  }

  private func values(of argument: CommandShape.Argument) -> Offer {
    switch argument.completionKind {
    case .list(let values): .words(values.map { Word(text: $0) })
    case .file(let extensions): .paths(extensions)
    case .directory: .paths(nil)
    case .custom: .words(custom(argument).map { Word(text: $0) })
    case .shellCommand, .customAsync, .customDeprecated, nil: .words([])
    }
  }

  /// Asks the argument parser, which knows the argument's own completion.
  private func custom(_ argument: CommandShape.Argument) -> [String] {
    let name = argument.preferredName?.word ?? "positional@\(command.positionals.firstIndex(of: argument) ?? 0)"
    let call = ["---completion"] + path + ["--", name, "\(words.count)", "\(typed.count)"] + words + [typed]
    do { _ = try GodwitCommand.parseAsRoot(call) } catch {
      guard GodwitCommand.exitCode(for: error) == .success else { return [] }
      return GodwitCommand.fullMessage(for: error).split(separator: "\n").map(String.init)
    }
    return []
  }
}
