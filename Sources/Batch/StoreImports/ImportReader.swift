import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// Reads the files of an import into a spool: rows, what they set in others, links.
final class ImportReader {
  /// The file at hand.
  private struct Input {
    let isCSV: Bool
    /// The entity of objects that do not name theirs.
    let stem: String
    var header: [String]?

    init(_ path: String) { (isCSV, stem) = (ImportFiles.isCSV(path), ImportFiles.stem(path)) }
  }

  private static let objectsPerReport: UInt64 = 1 << 12
  private static let mostShapes = 16

  private let plan: ImportPlan
  private let options: StoreImport.Options
  private let files: StepFiles
  private let reject: (StoreImport.Reject) throws -> Void
  let spool: ImportSpool
  let sides: ImportSides
  private let references: ImportReferences
  private let uris = ImportURIs()
  private let links: ImportLinks
  private let record = RecordEncoder()
  private(set) var objects: UInt64 = 0
  private(set) var rejects: UInt64 = 0
  /// That of the first object's URI.
  private(set) var uuid: String?
  /// Files in which there is no object.
  private(set) var emptyFiles: [String] = []
  private(set) var externalFiles: Set<String> = []
  private var input = Input("")
  /// The position of the file at hand.
  private var position = 0
  /// Shapes of lines of the file at hand, and how often one was looked for.
  private var shapes: [ImportShape] = []
  private var attempts = 0

  init(
    _ plan: ImportPlan, files: StepFiles, options: StoreImport.Options,
    reject: @escaping (StoreImport.Reject) throws -> Void
  ) throws {
    (self.plan, self.options, self.files, self.reject) = (plan, options, files, reject)
    spool = ImportSpool(tables: plan.layout.entityTables.count, files: files)
    sides = ImportSides(files: files)
    references = ImportReferences(files: files)
    links = try ImportLinks(plan, spool: spool, references: references, sides: sides, unique: options.unique)
  }

  /// Reads all files, then answers references by values.
  func read(_ paths: [String], progress: (UInt64, Double) -> Void) throws {
    let total = try max(1, paths.reduce(UInt64(0)) { try $0 + (files.fileSystem.status($1)?.size ?? 0) })
    var before: UInt64 = 0
    for (place, path) in paths.enumerated() {
      position = place
      let lines = try LineReader(
        path, files.fileSystem, limit: options.memory.rowLimit, quotes: ImportFiles.isCSV(path))
      defer { lines.close() }
      try read(lines, path) { progress(objects, Double(before + $0) / Double(total)) }
      before += lines.bytesRead
    }
    try links.answer(ImportLines(paths: paths))
  }

  private func read(_ lines: LineReader, _ path: String, progress: (UInt64) -> Void) throws {
    input = Input(path)
    (shapes, attempts) = ([], 0)
    let before = objects + rejects
    var isMore = true
    while isMore {
      do {
        isMore = try lines.next { try take($0, number: ImportLines.number(lines.number, ofFile: position)) }
      } catch let problem as ImportProblem {
        // Without a header nothing is known of the other lines.
        guard !input.isCSV || input.header != nil else {
          throw ImportLines(paths: [path]).refusal(told(problem, lines), at: lines.number)
        }
        guard rejects < options.mostRejects else { throw failure(told(problem, lines), path, line: lines.number) }
        rejects += 1
        try CallersError.marking { try reject(.init(path: path, line: lines.number, reason: told(problem, lines))) }
      }
      if objects % Self.objectsPerReport == 0 { progress(lines.bytesRead) }
    }
    guard objects + rejects == before else { return }
    guard !input.isCSV || input.header != nil else {
      throw ImportLines(paths: [path]).refusal(
        "the file is empty, and the first line of CSV has the names of the columns", at: 1)
    }
    emptyFiles.append(path)
  }

  /// What is wrong; and where a quotation has taken several lines together, that it has.
  private func told(_ problem: ImportProblem, _ lines: LineReader) -> String {
    guard lines.lastNumber > lines.number else { return problem.description }
    return "\(problem) (a quotation makes lines \(lines.number) to \(lines.lastNumber) one)"
  }

  private func take(_ line: UnsafeRawBufferPointer, number: Int) throws {
    guard !line.isEmpty else { return }
    for shape in shapes where shape.reads(line) { return try add(shape, number) }
    guard input.isCSV else {
      let entity = try add(ImportObject(json: line), line: number)
      return keep { ImportShapeMaker.shape(of: line, entity: entity, plan, uriPrefix: uris.prefix(entity.name)) }
    }
    let fields = try CSVFields.read(line)
    guard let header = input.header else {
      input.header = try ImportObject.header(fields, plan)
      return
    }
    let entity = try add(ImportObject(fields: fields, header: header), line: number)
    keep { ImportShapeMaker.shape(of: header, entity: entity, plan, uriPrefix: uris.prefix(entity.name)) }
  }

  /// Keeps the shape of a line that none of the shapes fits.
  private func keep(_ shape: () -> ImportShape?) {
    guard attempts < Self.mostShapes else { return }
    attempts += 1
    if let shape = shape() { shapes.insert(shape, at: 0) }
  }

  private func failure(_ problem: String, _ path: String, line: Int) -> BatchError {
    BatchError(
      options.mostRejects == 0 ? .refused : .tooManyRejects, "line \(line): \(problem)",
      hint: options.mostRejects == 0
        ? "Correct the file, or leave such lines out with --max-rejects" : "Correct the file, or raise --max-rejects",
      effect: .nothingWritten, path: path)
  }
}

extension ImportReader {
  /// Adds the object of a line that was read by its shape.
  private func add(_ shape: ImportShape, _ line: Int) throws {
    shape.row.write(to: record)
    try spool.check(record)
    let address = try spool.address(shape.entity.table, key: shape.key)
    try links.define(shape.row.value, of: shape.entity, at: address)
    try spool.add(shape.entity.table, address, line: line, record: record)
    objects += 1
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
    try spool.check(record)
    let address = try spool.address(entity.table, key: key)
    uris.take()
    if uuid == nil, uri != nil { uuid = uris.store }
    note(row, entity)
    try links.define({ row[$0] }, of: entity, at: address)
    for (relationship, targets, isList) in found {
      try links.add(targets, relationship, of: entity, at: address, line: line, isList: isList)
    }
    try spool.add(entity.table, address, line: line, record: record)
    objects += 1
    return entity
  }

  private func row(_ object: ImportObject, _ entity: ImportPlan.Entity) throws -> [Value] {
    var row = entity.template
    for member in object.attributes {
      guard let attribute = entity.attributes[member.name] else {
        throw ImportLinks.unknown(member.name, entity, in: plan)
      }
      row[attribute.column] = try attribute.stored(member.value)
    }
    for (column, name) in entity.required where row[column] == .null && entity.attributes[name] != nil {
      throw ImportProblem("\(name) is required and has no value; --validate none writes such objects as they are")
    }
    return row
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
