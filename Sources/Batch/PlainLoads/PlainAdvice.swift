import MappingModels
import MigrationJobs
import RunSupport

/// The command that loads a store once more, for a person whose load has ended before its time.
struct PlainAdvice: Sendable {
  /// Without the options of the file; nil where no command began the load, or one with other options.
  private let words: [String]?
  private let destination: PlainDestination

  /// Of nobody.
  init() { (words, destination) = (nil, PlainDestination(path: "")) }

  /// `source` and `path` are whole paths.
  init(_ arguments: [String], source: String, path: String, _ destination: PlainDestination) {
    self.destination = destination
    words = ReplayCommand.words(arguments, source: source, output: path, restarts: false)
  }

  /// The whole command, with another form of dates if one is given.
  func again(dates: PlainDates? = nil) -> AdvisedCommand? {
    let standard = PlainDestination(path: "")
    let form = dates ?? destination.dates
    return words.map { words in
      var words = words + ["--to-sqlite", "plain"]
      if form != standard.dates { words += ["--dates", form.rawValue] }
      if destination.inheritance != standard.inheritance {
        words += ["--inheritance", destination.inheritance.rawValue]
      }
      if destination.names != standard.names { words += ["--names", destination.names.rawValue] }
      if let records = destination.records { words += ["--records", PlainPlace.absolute(records)] }
      return ProgramName.command(words)
    }
  }
}
