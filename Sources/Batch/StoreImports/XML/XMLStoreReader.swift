import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// Reads an XML store into the spool of an import: rows, what they set in others, links.
final class XMLStoreReader {
  private static let objectsPerReport: UInt64 = 1 << 12

  private let scanner: XMLStoreScanner
  private let plan: ImportPlan
  private let names: XMLStoreNames
  private let files: StepFiles
  let spool: ImportSpool
  /// Nothing is noted there: sides of a relationship that disagree are put together.
  let sides: ImportSides
  private let links: ImportLinks
  private let references: XMLReferences
  private let record = RecordEncoder()
  private var text: [UInt8] = []
  private(set) var objects: UInt64 = 0

  init(_ scanner: XMLStoreScanner, _ plan: ImportPlan, files: StepFiles) throws {
    (self.scanner, self.plan, self.files) = (scanner, plan, files)
    names = try XMLStoreNames(plan)
    spool = ImportSpool(tables: plan.layout.entityTables.count, files: files)
    sides = ImportSides(files: files)
    links = try ImportLinks(
      plan, spool: spool, references: ImportReferences(files: files), sides: sides, unique: [])
    references = XMLReferences(files: files)
  }

  /// Reads all objects. `progress` is called now and then with the bytes that were read.
  func read(progress: (UInt64) -> Void) throws {
    while let object = try scanner.nextObject() {
      try add(object)
      if objects % Self.objectsPerReport == 0 { progress(scanner.tags.bytes.bytesRead) }
    }
    try references.answer(take)
  }

  private func failure(_ what: String, _ object: XMLStoreScanner.Object, line: Int? = nil) -> BatchError {
    var error = scanner.tags.failure("object z\(object.id): \(what)", line: line ?? object.line)
    error.entity = names.entities[object.type]?.plan.name
    return error
  }

  private func add(_ object: XMLStoreScanner.Object) throws {
    guard let entity = names.entities[object.type] else {
      throw failure("the model has no entity that is \(object.type.prefix(40)) in upper case", object)
    }
    guard !entity.plan.isAbstract else { throw failure("\(entity.plan.name) is abstract in the model", object) }
    let address = ImportAddress(key: object.id)
    _ = try spool.address(entity.plan.table, key: object.id)
    var row = entity.row
    var (seen, size): (Set<String>, Int) = ([], 0)
    while let property = try scanner.nextProperty() {
      switch property {
      case .attribute(let name, let type, let line):
        guard seen.insert(name).inserted else { throw failure("\(name) is there twice", object, line: line) }
        guard let attribute = entity.attributes[name] else { throw failure(unknown(name), object, line: line) }
        row[attribute.column] = try value(attribute, type: type, of: object, line: line, size: &size)
      case .relationship(let name, let line):
        guard seen.insert(name).inserted else { throw failure("\(name) is there twice", object, line: line) }
        guard let index = entity.references[name] else { throw failure(unknown(name), object, line: line) }
        try refer(index, of: entity, object, line: line)
      }
    }
    try references.define(object.id, entity: entity.plan.number, line: object.line)
    record.reset()
    for value in row { record.append(value) }
    do { try spool.check(record.length) } catch is ImportProblem { throw tooLarge("the object", object) }
    try spool.add(entity.plan.table, address, line: object.line, record: record)
    objects += 1
  }

  private func unknown(_ name: String) -> String {
    "the model has no property that is \(name.prefix(40)) in lower case"
  }

  private func tooLarge(_ what: String, _ object: XMLStoreScanner.Object, line: Int? = nil) -> BatchError {
    var error = failure("\(what) has more than \(files.budget.rowLimit >> 20) MiB", object, line: line)
    (error.code, error.hint) = (.refused, "Give more memory with --memory")
    return error
  }

  /// The value at hand. `size` is what the object's texts have together.
  private func value(
    _ attribute: ImportAttribute, type: String, of object: XMLStoreScanner.Object, line: Int, size: inout Int
  ) throws -> Value {
    text.removeAll(keepingCapacity: true)
    try scanner.text { piece in
      size += piece.count
      guard size <= files.budget.rowLimit else { throw tooLarge(attribute.path, object, line: line) }
      text += piece
    }
    func failure(_ what: String) -> BatchError {
      self.failure("\(attribute.path): \(what)", object, line: line)
    }
    var plain = try XMLStoreText.text(text, failure)
    if attribute.attribute.type == .string { plain = try XMLStoreText.unescaped(plain, failure) }
    do {
      return try attribute.stored(xml: plain, type: type)
    } catch let problem as ImportProblem {
      throw self.failure("\(attribute.path) \(problem)", object, line: line)
    }
  }

  private func refer(
    _ index: Int, of entity: XMLStoreNames.Entity, _ object: XMLStoreScanner.Object, line: Int
  ) throws {
    let relationship = entity.relationships[index]
    var place = XMLReferences.Place(
      owner: object.id, entity: entity.plan.number, relationship: index, place: 0, line: line)
    while let id = try scanner.nextReference() {
      guard relationship.isToMany || place.place == 0 else {
        throw failure("\(relationship.name) leads to one object, and idrefs names several", object, line: line)
      }
      try references.ask(id, for: place)
      place.place += 1
    }
    guard place.place == 0 else { return }
    try links.addNone(relationship, of: entity.plan, at: ImportAddress(key: object.id), line: line)
  }

  /// Notes a link, whose object is known by now.
  private func take(_ fact: XMLReferences.Fact) throws {
    switch fact {
    case .twice(let id, let lines):
      throw scanner.tags.failure("two objects have the id z\(id); the other one is in line \(lines.0)", line: lines.1)
    case .missing(let id, let place): throw dangling("z\(id), and no object has that id", place)
    case .found(let id, let number, let place):
      guard let owner = names.byNumber[place.entity], let target = names.byNumber[number] else { return }
      let relationship = owner.relationships[place.relationship]
      guard plan.layout.model.isKind(target.plan.name, of: relationship.destination) else {
        throw dangling("z\(id), which is of \(target.plan.name) and not of \(relationship.destination)", place)
      }
      try links.link(
        relationship, ImportAddress(key: place.owner), of: owner.plan, to: ImportAddress(key: id),
        table: target.plan.table, entity: number, place: place.place, line: place.line)
    }
  }

  private func dangling(_ what: String, _ place: XMLReferences.Place) -> BatchError {
    let owner = names.byNumber[place.entity]
    let name = owner?.relationships[place.relationship].name ?? ""
    var error = scanner.tags.failure("object z\(place.owner): \(name) leads to \(what)", line: place.line)
    error.entity = owner?.plan.name
    return error
  }
}
