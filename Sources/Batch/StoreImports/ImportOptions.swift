import Migrations
import RunSupport

/// How objects become a store.
public struct ImportOptions: Sendable {
  /// Which rules of the model objects must keep.
  public var validation = ValidationMode.required
  /// Lines that may be left out because they are wrong: so many, or so many of a hundred lines of all files. The next
  /// one ends the import; of a share, at the latest behind the last line.
  public var mostRejects = RejectLimit.Most.count(0)
  /// Attributes, as `User.userId`, by whose values relationships may refer to objects, beside those that the model
  /// keeps unique.
  public var unique: [String] = []
  /// Whether relationships may lead to no object, as those of a damaged store do. Keys of to-ones and links of join
  /// tables are kept.
  public var allowsDangling = false
  /// The store's UUID; nil for that of the first object's URI, or one that follows from the files.
  public var uuid: String?
  /// A folder with the files of external data, which are copied beside the store; nil if only their names are kept.
  public var external: String?
  /// A new file for the lines that are left out, as CSV; nil if there is to be none.
  public var rejects: String?
  /// The memory budget; it bounds the largest object.
  public var memory = MemoryBudget.standard
  /// The words of the command that asks for the same import from any folder, behind the program's name: for whoever
  /// goes on with it.
  public var arguments: [String] = []
  /// Threads that read large files beside the one that imports. The bytes of the store do not depend on them.
  public var helpers = 1

  /// Makes options.
  public init() {}
}

/// A line that was left out.
public struct ImportReject: Sendable {
  /// The file.
  public var path: String
  /// The line, from 1.
  public var line: Int
  /// What is wrong with it.
  public var reason: String
}
