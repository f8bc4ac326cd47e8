import Batch
import Synchronization

/// The words of the command at work, for advice that repeats it. A process may run one after the other.
enum CommandLineWords {
  private static let words = Mutex<[String]>([])
  private static let ofList = Mutex(false)
  /// What a file `godwit.yaml` says besides, and what of that is about models: void if the line names models itself.
  private static let ofFile = Mutex<[String]>([])
  private static let modelsOfFile = Mutex<[String]>([])

  /// What a list says to its own processes alone: no advice repeats it.
  static let brief = "--brief"

  static func begin(_ line: [String], isOfList: Bool = false) {
    words.withLock { $0 = line.filter { $0 != brief } }
    ofList.withLock { $0 = isOfList }
    complete([], models: [])
  }

  /// Notes what a file has added to the line, and what of that is about models.
  static func complete(_ words: [String], models: [String]) {
    ofFile.withLock { $0 = words }
    modelsOfFile.withLock { $0 = models }
  }

  /// The words of the line and of its file that are not the value of an option.
  static func without(valueOf option: String) -> [String] {
    without([option], line + ofFile.withLock(\.self))
  }

  /// Whether a list runs the command for one of its stores. It looks itself which of their files are there.
  static var isOfList: Bool { ofList.withLock(\.self) }

  /// The line as it is.
  static var line: [String] { words.withLock(\.self) }

  /// Whether only what a program reads is wanted.
  static var isSilent: Bool {
    words.withLock { line in
      ["--json", "--quiet", "--progress=json"].contains(where: line.contains)
        || zip(line, line.dropFirst()).contains { $0 == "--progress" && $1 == "json" }
    }
  }

  /// The whole command with an option in the place of what it says of it.
  static func adding(_ option: [String]) -> AdvisedCommand {
    let line = words.withLock(\.self)
    let end = line.firstIndex(of: "--") ?? line.count
    let kept = line[..<end].indices.filter { place in
      let isValue = place > 0 && line[place - 1] == option[0]
      return line[place] != option[0] && !isValue && !line[place].hasPrefix(option[0] + "=")
    }
    return ProgramName.command(kept.map { line[$0] } + option + line[end...])
  }

  /// The whole command with a model of the application named.
  static func naming(_ bundle: String) -> String { adding(["--bundle", bundle]).description }

  /// The whole command with models and mapping models by their paths, in the place of an application.
  static func exchanging(models: [String], mappings: [String]) -> AdvisedCommand {
    let line = words.withLock(\.self)
    let end = line.firstIndex(of: "--") ?? line.count
    let options = ["--app", "--bundle"]
    var kept = without(options, Array(line[..<end])) + without(options, modelsOfFile.withLock(\.self))
    if let place = kept.firstIndex(of: "--mappings") {
      kept.insert(contentsOf: mappings, at: place + 1)
    } else if !mappings.isEmpty {
      kept += ["--mappings"] + mappings
    }
    return ProgramName.command(kept + ["--models"] + models + line[end...])
  }

  /// The words without options of one value.
  private static func without(_ options: [String], _ words: [String]) -> [String] {
    words.indices.filter { place in
      let isValue = place > 0 && options.contains(words[place - 1])
      return !isValue && !options.contains { words[place] == $0 || words[place].hasPrefix($0 + "=") }
    }.map { words[$0] }
  }
}
