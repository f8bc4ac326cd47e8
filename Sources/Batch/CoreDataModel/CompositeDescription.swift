/// A composite that a model names: the elements that every attribute using it has.
public struct CompositeDescription: Sendable, Equatable {
  /// The elements, in declared order.
  public var elements: [AttributeDescription]
  /// Free entries of the model's author.
  public var userInfo: [String: String] = [:]
  /// XML attributes of the model file that are not understood, by name.
  public var unknown: [String: String] = [:]

  /// Makes a composite.
  public init(elements: [AttributeDescription]) { self.elements = elements }
}
