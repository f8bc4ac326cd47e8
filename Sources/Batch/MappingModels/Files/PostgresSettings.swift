/// What a mapping file says of a server of PostgreSQL, and of how its tables are to be.
enum PostgresSettings {
  static let keys = ["schema", "inheritance", "names"]
  static let example = "postgres://USER@HOST/DATABASE"

  static func read(_ url: MappingNode, _ fields: [String: MappingNode]) throws -> PostgresDestination {
    var destination = PostgresDestination(server: PostgresServer(url: try url.text("postgres")))
    // Such files are shared, and a run keeps a copy.
    let address = destination.server.address
    guard address.secrets.isEmpty, !address.isAmbiguous else {
      throw url.failure(
        "a password does not belong into a mapping file",
        "Give it by PGPASSWORD or in ~/.pgpass; settings that libpq does not know count as one")
    }
    if let node = fields["schema"] {
      destination.options.schema = try node.text("schema")
      guard PostgresOptions.isSchema(destination.options.schema) else {
        throw node.failure("schema has to be a name of 1 to 63 bytes")
      }
    }
    if let node = fields["inheritance"] { destination.options.inheritance = try node.choice("inheritance") }
    if let node = fields["names"] { destination.options.names = try node.choice("names") }
    return destination
  }

  /// The settings that are not the defaults.
  static func entries(_ destination: PostgresDestination) -> [(String, String)] {
    let (options, standard) = (destination.options, PostgresOptions())
    return [
      options.schema == standard.schema ? nil : ("schema", options.schema),
      options.inheritance == standard.inheritance ? nil : ("inheritance", options.inheritance.rawValue),
      options.names == standard.names ? nil : ("names", options.names.rawValue),
    ].compactMap(\.self)
  }
}
