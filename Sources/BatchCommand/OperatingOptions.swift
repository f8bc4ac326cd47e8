import ArgumentParser
import Batch

/// How a run is watched and controlled: the same for one that begins and one that goes on.
struct OperatingOptions: ParsableArguments {
  @Option(name: .long, help: "How progress is shown on standard error: auto, bar, lines, json or none.")
  var progress = ProgressMode.auto
  @Flag(name: .long, help: "Show no progress and no summary.") var quiet = false
  @Flag(name: .long, help: "Print the summary as JSON, and progress as JSON lines on standard error.") var json = false

  var progressMode: ProgressMode { quiet && progress == .auto ? .none : progress.resolved(json: json) }
}
