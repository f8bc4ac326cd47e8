import Migrations
import RunSupport
import Streams

extension RejectLimit.Most {
  /// As it is typed.
  var text: String {
    switch self {
    case .count(let count): "\(count)"
    case .percent(let percent): UInt64(exactly: percent).map { "\($0)%" } ?? "\(percent)%"
    }
  }
}

// How many lines may be left out.
extension ImportReader {
  /// Whether one more line may be. A share is one of all lines, and of those that are still to be read no more is known
  /// than that each takes a byte: what is certain to be too much ends the import, and the rest is judged at the end.
  var mayLeaveOut: Bool { rejects < limit(linesAhead: bytesAhead - min(bytesAhead, place?.offset ?? 0)) }

  private func limit(linesAhead: UInt64) -> UInt64 {
    RejectLimit(options.mostRejects).count(rows: objects &+ rejects &+ linesAhead)
  }

  /// Throws `tooManyRejects` if more lines were left out than the share that is allowed, when all files are read.
  func judgeShare(_ paths: [String]) throws {
    guard case .percent = options.mostRejects, rejects > limit(linesAhead: 0) else { return }
    let (wrong, all) = (rejects.grouped, (objects + rejects).counted("line"))
    throw BatchError(
      .tooManyRejects, "\(wrong) of \(all) \(rejects.verb("is", "are")) wrong, more than \(options.mostRejects.text)",
      hint: "Correct the files, or raise --max-rejects", effect: .nothingWritten, path: paths.first)
  }

  func failure(_ problem: String, _ path: String, line: Int) -> BatchError {
    let isFirst = options.mostRejects == .count(0)
    return BatchError(
      isFirst ? .refused : .tooManyRejects, "line \(line): \(problem)",
      hint: isFirst
        ? "Correct the file, or leave such lines out with --max-rejects" : "Correct the file, or raise --max-rejects",
      effect: .nothingWritten, path: path)
  }
}
