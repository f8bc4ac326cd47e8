// What a mapping file says of a destination.
extension LoadDestination {
  /// The kinds, by the key that has their address.
  enum Kind: String, CaseIterable {
    case postgres

    /// Further keys.
    var settings: [String] {
      switch self {
      case .postgres: PostgresSettings.keys
      }
    }

    /// An address to follow, for advice.
    var example: String {
      switch self {
      case .postgres: PostgresSettings.example
      }
    }
  }

  static var keys: [String] { Kind.allCases.map(\.rawValue) + Kind.allCases.flatMap(\.settings) }

  init(_ node: MappingNode) throws {
    let fields = try node.fields(.destination)
    let named = Kind.allCases.compactMap { kind in fields[kind.rawValue].map { (kind, $0) } }
    guard let (kind, address) = named.first else {
      let advice = Kind.allCases.map { "the key \($0.rawValue), with \($0.example)" }.joined(separator: ", or ")
      throw node.failure("a destination names no server", "Add \(advice)")
    }
    switch kind {
    case .postgres: self = .postgres(try PostgresSettings.read(address, fields))
    }
  }

  /// The lines of a mapping file.
  var lines: [String] {
    let entries =
      switch self {
      case .postgres(let destination):
        [(Kind.postgres.rawValue, destination.server.url)] + PostgresSettings.entries(destination)
      }
    return ["destination:"] + entries.map { "  \($0): \(MappingFileWriter.quoted($1))" }
  }
}
