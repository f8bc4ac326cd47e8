/// What a key stands for: an object.
public struct SpillingEntry: Sendable, Equatable {
  /// The object's primary key.
  public var key: Int64
  /// The object's entity number, or any small number of the caller's.
  public var entity: UInt32
  /// Makes an entry.
  public init(key: Int64, entity: UInt32) {
    self.key = key
    self.entity = entity
  }
}
