extension RunHistory {
  /// A file that a person named, of which the run's source was made.
  public struct SourceFile: Sendable, Codable, Equatable {
    /// The whole path.
    public var path: String
    /// Its bytes.
    public var bytes: UInt64
    /// Its last change, nanoseconds since 1970; nil in older runs.
    public var modified: Int64?

    /// A file with its size and the time of its last change.
    public init(path: String, bytes: UInt64, modified: Int64? = nil) {
      (self.path, self.bytes, self.modified) = (path, bytes, modified)
    }
  }
}
