import CoreDataStore
import RunSupport
import Streams

/// The two sides of relationships. A list names all objects of its relationship, so an object that leads to the list's
/// owner and is not in the list contradicts it. Both are sorted together on disk.
final class ImportSides {
  /// Objects that may have a list of one relationship, which is known by where its links are stored.
  struct Place: Hashable {
    /// The table of the to-one's column, or the join table as ``ImportSpool`` numbers it.
    let table: Int
    /// The to-one's column; in a join table 0 for lists of sources, 1 for those of destinations.
    let column: Int
  }

  /// A link that is not in the list.
  private struct Fault {
    let place: Place
    let owner: ImportAddress
    let line: Int
    let listLine: Int
  }

  private let sorter: ExternalSorter
  private var listed: Set<Place> = []
  private var bytes: [UInt8] = []

  init(files: StepFiles, keepsFile: Bool = false) {
    sorter = ExternalSorter(
      memoryBytes: files.budget.sortBytes / 4, path: files.path("sides"), fileSystem: files.fileSystem,
      keepsFile: keepsFile)
  }

  private func add(_ place: Place, _ owner: ImportAddress, isLink: Bool, line: Int) throws {
    bytes.removeAll(keepingCapacity: true)
    bytes.append(short: place.table)
    bytes.append(short: place.column)
    owner.write(to: &bytes)
    bytes.append(isLink ? 1 : 0)
    bytes.append(biased: Int64(line))
    try bytes.withUnsafeBytes { try sorter.add($0) }
  }

  /// Says that an object has a list, which names all of its objects.
  func addList(_ place: Place, of owner: ImportAddress, line: Int) throws {
    listed.insert(place)
    try add(place, owner, isLink: false, line: line)
  }

  /// Says that an object leads to another one, and is in no list of that.
  func addLink(_ place: Place, to owner: ImportAddress, line: Int) throws {
    guard listed.contains(place) else { return }
    try add(place, owner, isLink: true, line: line)
  }

  /// Columns of to-one relationships of a table of whose other side there are lists, with the tables of the lists'
  /// owners.
  func columns(of table: Int, _ plan: ImportPlan) -> [(column: Int, owners: Int)] {
    listed.filter { $0.table == table }.sorted { $0.column < $1.column }.map { place in
      (place.column, relationship(place, plan).owners)
    }
  }

  /// The relationship on the other side of the lists, and the table of their owners.
  private func relationship(_ place: Place, _ plan: ImportPlan) -> (name: String, owners: Int) {
    let layout = plan.layout
    func table(_ entity: String) -> Int { layout.tablePosition(ofEntity: entity) ?? 0 }
    if place.table >= ImportSpool.firstJoin {
      let join = layout.joinTables[place.table & ~ImportSpool.firstJoin]
      let (listed, other) = place.column == 0 ? (join.relationship, join.inverse) : (join.inverse, join.relationship)
      return (other.name, table(listed.entity))
    }
    guard case .toOne(let entity, let name) = layout.entityTables[place.table].columns[place.column].role else {
      return ("", 0)
    }
    return (name, table(plan.entities[entity]?.relationships[name]?.destination ?? ""))
  }

  /// Throws if an object leads to another one whose list does not have it.
  func check(_ plan: ImportPlan, _ spool: ImportSpool, in lines: ImportLines) throws {
    guard !listed.isEmpty, let fault = try firstFault() else { return }
    let (name, owners) = relationship(fault.place, plan)
    throw lines.refusal(
      "\(name) leads to the object \(fault.owner.key(after: spool.largestKeys[owners])), "
        + "and the list of that in \(lines.text(fault.listLine, beside: fault.line)) does not have this object: "
        + "leave one of the sides out, or let both say the same", at: fault.line)
  }

  private func firstFault() throws -> Fault? {
    var (head, listLine, fault): ([UInt8], Int, Fault?) = ([], 0, nil)
    try sorter.drain { bytes in
      let end = 4 + ImportAddress.length
      let line = Int(bytes.biased(at: end + 1))
      if bytes[end] == 0 {
        if !head.elementsEqual(bytes[..<end]) { (head, listLine) = (Array(bytes[..<end]), line) }
      } else if fault == nil, head.elementsEqual(bytes[..<end]) {
        fault = Fault(
          place: Place(table: bytes.short(at: 0), column: bytes.short(at: 2)), owner: ImportAddress(bytes, at: 4),
          line: line, listLine: listLine)
      }
    }
    return fault
  }
}

// What a checkpoint continues.
extension ImportSides {
  func encode(into state: inout ByteWriter) throws {
    state.writeArray(listed.sorted { ($0.table, $0.column) < ($1.table, $1.column) }) {
      $0.writeInt($1.table)
      $0.writeInt($1.column)
    }
    try sorter.encode(into: &state)
  }

  func sync() throws { try sorter.sync() }

  func restore(from state: inout ByteReader, _ plan: ImportPlan) throws {
    let places = try state.readArray(elementSize: 16) { Place(table: try $0.readInt(), column: try $0.readInt()) }
    guard places.allSatisfy({ Self.isPlace($0, in: plan) }) else { throw state.damaged("a list of no relationship") }
    listed = Set(places)
    try sorter.restore(from: &state)
  }

  private static func isPlace(_ place: Place, in plan: ImportPlan) -> Bool {
    guard place.table >= ImportSpool.firstJoin else {
      return plan.layout.entityTables.indices.contains(place.table)
        && plan.layout.entityTables[place.table].columns.indices.contains(place.column)
    }
    return plan.layout.joinTables.indices.contains(place.table & ~ImportSpool.firstJoin) && 0...1 ~= place.column
  }
}
