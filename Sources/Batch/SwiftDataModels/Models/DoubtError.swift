import RunSupport

/// The error for what is inside an `#if` that nobody decides.
enum DoubtError {
  static func make(_ doubt: SourceDoubt, of what: String, at place: SourcePlace) -> BatchError {
    let sides = [("true", doubt.whenTrue), ("false", doubt.whenFalse)].filter { !$0.1.isEmpty }
    let advice = sides.map { "\($0), add \($1.map { "-D '\($0)'" }.joined(separator: " "))" }
    return place.error(
      "\(what) depends on #if \(doubt.condition), which is not decided",
      hint: advice.isEmpty
        ? "Name the files without it"
        : "If it is \(advice.joined(separator: "; if it is ")); or name the files without it")
  }
}
