/// Why a value does not fit into its column.
struct PlainFault: Error {
  var what: String
  var hint: String?

  init(_ what: String, hint: String? = nil) { (self.what, self.hint) = (what, hint) }
}
