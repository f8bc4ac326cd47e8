/// Why a value does not fit into its column.
struct PlainFault: Error {
  var what: String
  /// Whether a column of seconds would hold it.
  var fitsSeconds = false

  init(_ what: String, fitsSeconds: Bool = false) { (self.what, self.fitsSeconds) = (what, fitsSeconds) }
}
