/// A property of an entity, as Core Data describes it; it cannot be changed.
open class NSPropertyDescription: NSObject {
  /// The name.
  public let name: String
  /// Whether it may be without value.
  public let isOptional: Bool
  /// Whether it has no column in the store.
  public let isTransient: Bool
  /// Free entries of the model's author.
  public let userInfo: [AnyHashable: Any]?

  init(name: String, isOptional: Bool, isTransient: Bool, userInfo: [String: String]) {
    (self.name, self.isOptional, self.isTransient, self.userInfo) = (name, isOptional, isTransient, userInfo)
  }
}
