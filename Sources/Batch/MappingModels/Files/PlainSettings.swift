/// What a mapping file says of a file of ordinary tables.
enum PlainSettings {
  static let keys = ["inheritance", "names", "dates"]
  static let example = "NEW.sqlite"

  static func read(_ path: MappingNode, _ fields: [String: MappingNode]) throws -> PlainDestination {
    var destination = PlainDestination(path: try path.text("sqlite"))
    if let node = fields["inheritance"] { destination.inheritance = try node.choice("inheritance") }
    if let node = fields["names"] { destination.names = try node.choice("names") }
    if let node = fields["dates"] { destination.dates = try node.choice("dates") }
    return destination
  }

  /// The settings that are not the defaults.
  static func entries(_ destination: PlainDestination) -> [(String, String)] {
    let standard = PlainDestination(path: "")
    return [
      destination.inheritance == standard.inheritance ? nil : ("inheritance", destination.inheritance.rawValue),
      destination.names == standard.names ? nil : ("names", destination.names.rawValue),
      destination.dates == standard.dates ? nil : ("dates", destination.dates.rawValue),
    ].compactMap(\.self)
  }
}
