// What a mapping file says of a destination.
extension LoadDestination {
  /// The kinds, by the key that has their address.
  enum Kind: String, CaseIterable {
    case postgres, sqlite

    /// Further keys.
    var settings: [String] {
      switch self {
      case .postgres: PostgresSettings.keys
      case .sqlite: PlainSettings.keys
      }
    }

    /// An address to follow, for advice.
    var example: String {
      switch self {
      case .postgres: PostgresSettings.example
      case .sqlite: PlainSettings.example
      }
    }
  }

  static var keys: [String] {
    Set(Kind.allCases.map(\.rawValue) + Kind.allCases.flatMap(\.settings)).sorted()
  }

  init(_ node: MappingNode) throws {
    let fields = try node.fields(.destination)
    let named = Kind.allCases.compactMap { kind in fields[kind.rawValue].map { (kind, $0) } }
    guard let (kind, address) = named.first, named.count == 1 else {
      let advice = Kind.allCases.map { "the key \($0.rawValue), with \($0.example)" }.joined(separator: ", or ")
      throw named.isEmpty
        ? node.failure("a destination names no server and no file", "Add \(advice)")
        : node.failure("a destination names a server and a file", "Keep one of them")
    }
    let strange = fields.keys.filter { $0 != kind.rawValue && !kind.settings.contains($0) }.sorted()
    guard strange.isEmpty else {
      throw node.failure("\(strange.joined(separator: ", ")) does not go with \(kind.rawValue)", "Take it out")
    }
    switch kind {
    case .postgres: self = .postgres(try PostgresSettings.read(address, fields))
    case .sqlite: self = .plain(try PlainSettings.read(address, fields))
    }
  }

  /// The lines of a mapping file.
  var lines: [String] {
    let entries =
      switch self {
      case .postgres(let destination):
        [(Kind.postgres.rawValue, destination.server.url)] + PostgresSettings.entries(destination)
      case .plain(let destination):
        [(Kind.sqlite.rawValue, destination.path)] + PlainSettings.entries(destination)
      }
    return ["destination:"] + entries.map { "  \($0): \(MappingFileWriter.quoted($1))" }
  }
}

extension MappingNode {
  /// One of the words that a key takes.
  func choice<Choice: RawRepresentable & CaseIterable>(
    _ key: String
  ) throws -> Choice where Choice.RawValue == String {
    let allowed = Choice.allCases.map(\.rawValue).joined(separator: ", ")
    guard let choice = Choice(rawValue: try text(key)) else {
      throw failure("\(key) has none of its values", "Allowed are \(allowed)")
    }
    return choice
  }
}
