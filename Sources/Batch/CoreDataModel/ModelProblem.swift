/// Something wrong in a model.
public struct ModelProblem: Sendable, Equatable, Codable, CustomStringConvertible {
  /// How much a problem matters.
  public enum Severity: String, Sendable, Codable {
    /// The model cannot be used.
    case error
    /// Core Data or Xcode complain about it, or leave something out; stores of such models exist.
    case warning
  }

  /// How much it matters.
  public var severity: Severity
  /// The entity; nil if the model as a whole is concerned.
  public var entity: String?
  /// The property, index or the like inside the entity.
  public var property: String?
  /// What is wrong.
  public var message: String

  /// `Entity.property: what is wrong`.
  public var description: String {
    let place = [entity, property].compactMap { $0 }.joined(separator: ".")
    return place.isEmpty ? message : "\(place): \(message)"
  }
}
