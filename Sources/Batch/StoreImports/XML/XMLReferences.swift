import CoreDataStore
import RunSupport
import Streams

/// The ids of an XML store: which object has which, and which relationship names which, sorted together on disk. Ids
/// are unique in the whole file, and a relationship does not say of which entity its objects are.
final class XMLReferences {
  /// A place of a relationship's list.
  struct Place {
    /// The id of the object whose relationship it is.
    var owner: Int64
    /// Its Z_ENT.
    var entity: Int
    /// The position of the relationship.
    var relationship: Int
    var place: Int
    var line: Int
  }

  /// What is known of an id.
  enum Fact {
    /// Two objects have it.
    case twice(Int64, lines: (Int, Int))
    /// No object has it.
    case missing(Int64, Place)
    /// An object of that Z_ENT has it.
    case found(Int64, entity: Int, Place)
  }

  private let sorter: ExternalSorter
  private var bytes: [UInt8] = []

  init(files: StepFiles) {
    sorter = ExternalSorter(
      memoryBytes: files.budget.sortBytes / 2, path: files.path("ids"), fileSystem: files.fileSystem)
  }

  private func begin(_ id: Int64, _ tag: UInt8, line: Int) {
    bytes.removeAll(keepingCapacity: true)
    bytes.append(biased: id)
    bytes.append(tag)
    bytes.append(biased: Int64(line))
  }

  /// Says which object has an id.
  func define(_ id: Int64, entity: Int, line: Int) throws {
    begin(id, 0, line: line)
    bytes.append(short: entity)
    try bytes.withUnsafeBytes { try sorter.add($0) }
  }

  /// Says that a relationship names an id.
  func ask(_ id: Int64, for place: Place) throws {
    begin(id, 1, line: place.line)
    bytes.append(biased: place.owner)
    bytes.append(short: place.entity)
    bytes.append(short: place.relationship)
    bytes.append(biased: Int64(place.place))
    try bytes.withUnsafeBytes { try sorter.add($0) }
  }

  /// Calls `body` with what is known of each id that is there twice or that a relationship names.
  func answer(_ body: (Fact) throws -> Void) throws {
    var last: (id: Int64, entity: Int, line: Int)?
    try sorter.drain { bytes in
      let (id, line) = (bytes.biased(at: 0), Int(bytes.biased(at: 9)))
      guard bytes[8] == 1 else {
        if let last, last.id == id { try body(.twice(id, lines: (last.line, line))) }
        last = (id, bytes.short(at: 17), line)
        return
      }
      let place = Place(
        owner: bytes.biased(at: 17), entity: bytes.short(at: 25), relationship: bytes.short(at: 27),
        place: Int(bytes.biased(at: 29)), line: line)
      guard let last, last.id == id else { return try body(.missing(id, place)) }
      try body(.found(id, entity: last.entity, place))
    }
  }
}
