/// A value as a file for an import has it.
indirect enum ImportValue: Equatable {
  case null
  case boolean(Bool)
  case integer(Int64)
  /// A number, and how it is written.
  case real(Double, written: String)
  /// A text of JSON.
  case text(String)
  /// A field of CSV: what it means depends on where it belongs.
  case field(String)
  case list([ImportValue])
  case object([Member])

  /// A member of an object.
  struct Member: Equatable {
    var name: String
    var value: ImportValue
  }

  /// The value of a member; nil if there is none.
  subscript(_ name: String) -> ImportValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }
}

/// What is wrong with a line of a file.
struct ImportProblem: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
