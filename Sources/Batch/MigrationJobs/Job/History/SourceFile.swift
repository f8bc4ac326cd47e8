extension RunHistory {
  /// A file that a person named, of which the run's source was made.
  public struct SourceFile: Sendable, Codable, Equatable {
    /// The whole path.
    public var path: String
    /// Its bytes.
    public var bytes: UInt64

    /// A file with its size.
    public init(path: String, bytes: UInt64) { (self.path, self.bytes) = (path, bytes) }
  }
}
