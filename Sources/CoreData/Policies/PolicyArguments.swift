import Migrations

/// What a mapping model gives to a method of a policy.
public struct PolicyArguments {
  private let values: [Any?]
  private let selector: String
  private let engine: MigrationManager

  init(_ values: [Any?], of selector: String, _ engine: MigrationManager) {
    (self.values, self.selector, self.engine) = (values, selector, engine)
  }

  /// The argument of a place, from 0, as the method takes it.
  ///
  /// - Throws: an error that names the method where the mapping model gives another number or kind of arguments.
  public func callAsFunction<Argument>(_ place: Int) throws -> Argument {
    guard values.indices.contains(place) else {
      throw engine.failure(
        "the mapping model calls \(selector) with \(values.count) arguments", hint: "The method takes more")
    }
    let value = values[place]
    if let found = value as? Argument { return found }
    if let number = value as? NSNumber,
      let date = Date(timeIntervalSinceReferenceDate: number.doubleValue) as? Argument
    {
      return date
    }
    throw engine.failure(
      "argument \(place + 1) of \(selector) is \(value.map { "a \(type(of: $0))" } ?? "nil"), and the method takes \(Argument.self)",
      hint: value == nil ? "Take \(Argument.self)? in the method" : "Give it another value in the mapping model")
  }
}
