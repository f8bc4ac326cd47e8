import RunSupport

/// The error for what is inside an `#if` that nobody decides.
enum DoubtError {
  static func make(_ doubt: SourceDoubt, of what: String, at place: SourcePlace) -> BatchError {
    place.error(
      "\(what) depends on #if \(doubt.condition), which is not decided",
      hint:
        "If it is true, add -D '\(doubt.condition.filter { !$0.isWhitespace })'; otherwise name another system or the files without it"
    )
  }
}
