import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// Reads the files of an import into a spool: rows, what they set in others, links.
final class ImportReader {
  /// The file at hand.
  struct Input {
    let isCSV: Bool
    /// The entity of objects that do not name theirs.
    let stem: String
    var header: [String]?

    init(_ path: String) { (isCSV, stem) = (ImportFiles.isCSV(path), ImportFiles.stem(path)) }
  }

  private static let mostShapes = 16

  let plan: ImportPlan
  let options: ImportOptions
  let files: StepFiles
  let reject: (ImportReject) throws -> Void
  /// What has the lines that are left out, if they are to be listed.
  let list: ImportRejectList?
  let spool: ImportSpool
  let sides: ImportSides
  let references: ImportReferences
  /// What is looked for in files that were read before; nothing is added then.
  var watch: ImportWatch?
  let uris = ImportURIs()
  let links: ImportLinks
  private let record = RecordEncoder()
  var objects: UInt64 = 0
  var rejects: UInt64 = 0
  /// That of the first object's URI.
  var uuid: String?
  /// Files in which there is no object.
  var emptyFiles: [String] = []
  var externalFiles: Set<String> = []
  /// Of the contents of the files that were read.
  var digests: [[UInt8]] = []
  var input = Input("")
  /// The position of the file at hand, its lines, where the next one of those begins that are to be taken, and what was
  /// taken before them.
  var position = 0
  private(set) var lines: LineReader?
  var place: LineReader.Place?
  var before: UInt64 = 0
  /// Bytes of this file and those behind it.
  private(set) var bytesAhead: UInt64 = 0
  /// Shapes of lines of the file at hand, and how often one was looked for.
  private(set) var shapes: [ImportShape] = []
  private var attempts = 0
  /// The shapes for all threads.
  let known = ImportShapes()
  let decoder = RecordDecoder()
  /// A row by itself.
  let own = ByteRoom()

  init(
    _ plan: ImportPlan, files: StepFiles, options: ImportOptions, list: ImportRejectList?,
    reject: @escaping (ImportReject) throws -> Void
  ) throws {
    (self.plan, self.options, self.files, self.reject, self.list) = (plan, options, files, reject, list)
    spool = ImportSpool(tables: plan.layout.entityTables.count, files: files, keepsFile: true)
    sides = ImportSides(files: files, keepsFile: true)
    references = ImportReferences(files: files, keepsFile: true)
    links = try ImportLinks(plan, spool: spool, references: references, sides: sides, unique: options.unique)
  }

  /// Reads all files, or those that are left. `look` is called now and then with the lines and bytes read and the part
  /// that is done.
  func read(_ paths: [String], _ look: (Int, Int, Double) throws -> Void) throws {
    let sizes = try paths.map { try files.fileSystem.status($0)?.size ?? 0 }
    let total = Double(max(1, sizes.reduce(0, +)))
    while position < paths.count {
      let lines = try self.lines ?? open(paths[position])
      let done = Double(sizes[..<position].reduce(0, +))
      bytesAhead = sizes[position...].reduce(0, +)
      try read(lines, paths[position], size: sizes[position]) { piece in
        try look(piece.lineCount, piece.byteCount, (done + Double(place?.offset ?? 0)) / total)
      }
      digests.append(lines.digest)
      (self.lines, place) = (nil, nil)
      position += 1
    }
  }

  /// Begins a file.
  func open(_ path: String) throws -> LineReader {
    let made = try LineReader(
      path, files.fileSystem, limit: options.memory.rowLimit, quotes: ImportFiles.isCSV(path))
    (lines, place, input, shapes, attempts) = (made, made.place, Input(path), [], 0)
    known.keep(shapes)
    return made
  }

  func take(_ line: UnsafeRawBufferPointer, number: Int) throws {
    for shape in shapes where shape.reads(line) { return try add(shape, number) }
    guard input.isCSV else {
      let entity = try add(ImportObject(json: line), line: number)
      return keep { ImportShapeMaker.shape(of: line, entity: entity, plan, uriPrefix: uris.prefix(entity.name)) }
    }
    let fields = try CSVFields.read(line)
    guard let header = input.header else {
      input.header = try ImportObject.header(fields, plan, stem: input.stem)
      return
    }
    let entity = try add(ImportObject(fields: fields, header: header), line: number)
    keep { ImportShapeMaker.shape(of: header, entity: entity, plan, uriPrefix: uris.prefix(entity.name)) }
  }

  /// Keeps the shape of a line that none of the shapes fits.
  private func keep(_ shape: () -> ImportShape?) {
    guard attempts < Self.mostShapes else { return }
    attempts += 1
    guard let shape = shape() else { return }
    shapes.insert(shape, at: 0)
    known.keep(shapes)
  }

}

extension ImportReader {
  /// Adds the object of a line that was read by its shape.
  private func add(_ shape: ImportShape, _ line: Int) throws {
    own.removeAll()
    var stretch = ImportStretch(shape.entity.table, shape.entityNumber, key: shape.key, line: 0, at: 0)
    stretch.add(shape.key, shape.row, to: own)
    try add(stretch, line: line, own.bytes(stretch.range))
  }

  /// The entity of an object: that of its URI, or of the file's name, if it does not name its own.
  private func entity(of object: ImportObject, _ uri: (entity: String, key: Int64)?) throws -> ImportPlan.Entity {
    let own = object.entity ?? uri?.entity
    let name = own ?? input.stem
    guard let entity = plan.entities[name] else {
      let known = NearName.question(name, in: plan.layout.entityNames)
      throw ImportProblem(
        own == nil ? "the object has no entity, and the file's name is none" : "there is no entity \(name)\(known)")
    }
    guard !entity.isAbstract else { throw ImportProblem("\(name) is abstract, and has no objects of its own") }
    if let uri, uri.entity != name {
      throw ImportProblem("the URI is of the entity \(uri.entity), and the object of \(name)")
    }
    return entity
  }

  /// The key of an object, if it has one.
  private func key(of object: ImportObject, _ uri: (entity: String, key: Int64)?) throws -> Int64? {
    if let key = object.key, key < 1 { throw ImportProblem("the key \(key) is not above 0") }
    if let key = object.key, let uri, key != uri.key {
      throw ImportProblem("the URI has the key \(uri.key), and the object the key \(key)")
    }
    return object.key ?? uri?.key
  }

  /// Adds an object, and returns its entity.
  private func add(_ object: ImportObject, line: Int) throws -> ImportPlan.Entity {
    uris.begin()
    let uri = try object.uri.map(uris.read)
    let (entity, key) = (try entity(of: object, uri), try key(of: object, uri))
    var object = object
    try object.sort(for: entity, plan)
    let row = try row(object, entity)
    // All that may be wrong with the object itself is found by now, so that a line counts whole or not at all.
    let found = try targets(object, entity)
    record.reset()
    for value in row { record.append(value) }
    try spool.check(record.length)
    let address = try spool.address(entity.table, key: key)
    uris.take()
    objects += 1
    if let watch {
      watch.see(entity.table, address, line: line)
      return entity
    }
    if uuid == nil, uri != nil { uuid = uris.store }
    note(row, entity)
    try links.define({ row[$0] }, of: entity, at: address, line: line)
    for (relationship, targets, isList) in found {
      try links.add(targets, relationship, of: entity, at: address, line: line, isList: isList)
    }
    try spool.add(entity.table, address, line: line, record: record)
    return entity
  }

  private func row(_ object: ImportObject, _ entity: ImportPlan.Entity) throws -> [Value] {
    var row = entity.template
    for member in object.attributes {
      for attribute in try attributes(member, entity) { row[attribute.column] = try attribute.stored(member.value) }
    }
    let missing = entity.required.first { !$0.isRelationship && $0.isMissing { row[$0] == .null } }
    if let name = missing?.name {
      throw ImportProblem("\(name) is required and has no value; --validate none writes such objects as they are")
    }
    return row
  }

  /// The attributes that get a member's value: null for a composite is null for all its elements.
  private func attributes(_ member: ImportValue.Member, _ entity: ImportPlan.Entity) throws -> [ImportAttribute] {
    if let attribute = entity.attributes[member.name] { return [attribute] }
    let elements = entity.attributes.filter { member.value == .null && $0.key.hasPrefix(member.name + ".") }
    guard !elements.isEmpty else { throw ImportLinks.unknown(member.name, entity, in: plan) }
    return Array(elements.values)
  }

  private func targets(
    _ object: ImportObject, _ entity: ImportPlan.Entity
  ) throws -> [(ImportPlan.Relationship, [ImportTarget], isList: Bool)] {
    var given: Set<String> = []
    return try object.relationships.map { member in
      let (relationship, targets) = try links.targets(member, of: entity, uris: uris)
      guard member.value == .null || given.insert(relationship.name).inserted else {
        throw ImportProblem("\(relationship.name) is given twice: by a key or a URI, and by the value of an attribute")
      }
      return (relationship, targets, relationship.isToMany && member.value != .null)
    }
  }

  /// Files beside the store that a row names.
  private func note(_ row: [Value], _ entity: ImportPlan.Entity) {
    for attribute in entity.attributes.values where attribute.attribute.allowsExternalBinaryDataStorage {
      guard case .blob(let bytes) = row[attribute.column] else { continue }
      if case .file(let name) = bytes.withUnsafeBytes({ ExternalValue($0) }) { externalFiles.insert(name) }
    }
  }
}
