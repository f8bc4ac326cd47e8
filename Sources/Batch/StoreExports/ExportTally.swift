/// A number that several writers count up.
final class ExportTally {
  var count: UInt64 = 0
}
