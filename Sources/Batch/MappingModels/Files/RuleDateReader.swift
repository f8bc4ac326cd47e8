import RunSupport

/// Reads what a mapping file says of dates: patterns, zones, epochs and units.
struct RuleDateReader {
  private static let units = DateScale.Unit.allCases.map(\.rawValue).joined(separator: ", ")

  /// A date that is written as a constant, in ISO 8601; nil if the text is none.
  static func constant(_ text: String) -> Double? {
    let forms = ["yyyy-MM-dd", "yyyy-MM-dd'T'HH:mm:ssX", "yyyy-MM-dd'T'HH:mm:ss.SX", "yyyy-MM-dd'T'HH:mmX"]
    return forms.lazy.compactMap { DatePattern($0)?.seconds(text) }.first
  }

  func pattern(_ fields: [String: MappingNode], _ node: MappingNode, of form: String) throws -> DatePattern {
    guard let format = fields["format"] else {
      throw node.failure(
        "\(form) needs format" + (form == "date" ? ", or epoch and unit" : ""),
        form == "date"
          ? "For example format: yyyy-MM-dd for a text; epoch: unix, unit: ms for a number; a constant is 2024-05-01T12:00:00Z"
          : "For example format: yyyy-MM-dd; a number as a text is { cast: $source.NAME, to: text }")
    }
    var offset = 0
    if let zone = fields["zone"] {
      guard let found = DatePattern.offset(ofZone: try zone.text("zone")) else {
        throw zone.failure("the zone is not understood", "Allowed are UTC and offsets such as +02:00")
      }
      offset = found
    }
    guard let pattern = DatePattern(try format.text("format"), offset: offset) else {
      throw format.failure(
        "the date format is not understood",
        "Allowed are y yyyy M MM d dd H HH h hh m mm s ss S a z Z X XX XXX, other signs, and letters in apostrophes")
    }
    return pattern
  }

  func scale(_ fields: [String: MappingNode], _ node: MappingNode) throws -> DateScale {
    guard let epoch = fields["epoch"], let unit = fields["unit"] else {
      throw node.failure(
        "a number of a date needs epoch and unit", "For example epoch: unix, unit: ms. Units are \(Self.units)")
    }
    guard let moment = DateScale.epoch(try epoch.text("epoch")) else {
      throw epoch.failure("the epoch is not understood", "Allowed are unix, 2001, and a day such as 1904-01-01")
    }
    guard let found = DateScale.Unit(rawValue: try unit.text("unit")) else {
      throw unit.failure("there is no unit of that name", "Allowed are \(Self.units)")
    }
    return DateScale(epoch: moment, unit: found)
  }
}
