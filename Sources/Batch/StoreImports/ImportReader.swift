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
  private let references: ImportReferences
  private let links: ImportLinks
  private let record = RecordEncoder()
  private(set) var objects: UInt64 = 0
  private(set) var rejects: UInt64 = 0
  private(set) var uuid: String?
  private(set) var externalFiles: Set<String> = []
  private var input = Input("")
  /// Shapes of lines of the file at hand, and how often one was looked for.
  private var shapes: [ImportShape] = []
  private var attempts = 0

  init(
    _ plan: ImportPlan, files: StepFiles, options: StoreImport.Options,
    reject: @escaping (StoreImport.Reject) throws -> Void
  ) throws {
    (self.plan, self.options, self.files, self.reject) = (plan, options, files, reject)
    spool = ImportSpool(tables: plan.layout.entityTables.count, files: files)
    references = ImportReferences(files: files)
    links = try ImportLinks(plan, spool: spool, references: references, unique: options.unique)
  }

  /// Reads all files, then answers references by values.
  func read(_ paths: [String], progress: (UInt64, Double) -> Void) throws {
    let total = try max(1, paths.reduce(UInt64(0)) { try $0 + (files.fileSystem.status($1)?.size ?? 0) })
    var before: UInt64 = 0
    for path in paths {
      let lines = try LineReader(
        path, files.fileSystem, limit: options.memory.rowLimit, quotes: ImportFiles.isCSV(path))
      defer { lines.close() }
      try read(lines, path) { progress(objects, Double(before + $0) / Double(total)) }
      before += lines.bytesRead
    }
    do { try links.answer() } catch let problem as ImportProblem {
      throw BatchError(.refused, "\(problem)", hint: "Correct the file", effect: .nothingWritten)
    }
  }

  private func read(_ lines: LineReader, _ path: String, progress: (UInt64) -> Void) throws {
    input = Input(path)
    (shapes, attempts) = ([], 0)
    var isMore = true
    while isMore {
      do {
        isMore = try lines.next { try take($0, number: lines.number) }
      } catch let problem as ImportProblem {
        // Without a header nothing is known of the other lines.
        guard !input.isCSV || input.header != nil, rejects < options.mostRejects else {
          throw failure(problem, path, line: lines.number)
        }
        rejects += 1
        try CallersError.marking { try reject(.init(path: path, line: lines.number, reason: problem.description)) }
      }
      if objects % Self.objectsPerReport == 0 { progress(lines.bytesRead) }
    }
  }

  private func take(_ line: UnsafeRawBufferPointer, number: Int) throws {
    guard !line.isEmpty else { return }
    for shape in shapes where shape.reads(line, wantsURI: uuid == nil) { return try add(shape, number) }
    guard input.isCSV else {
      let entity = try add(ImportObject(json: line), line: number)
      return keep { ImportShapeMaker.shape(of: line, entity: entity, plan) }
    }
    let fields = try CSVFields.read(line)
    guard let header = input.header else {
      input.header = try Self.header(fields)
      return
    }
    let entity = try add(ImportObject(fields: fields, header: header, isRelationship: isRelationship), line: number)
    keep { ImportShapeMaker.shape(of: header, entity: entity, plan) }
  }

  /// Keeps the shape of a line that none of the shapes fits.
  private func keep(_ shape: () -> ImportShape?) {
    guard attempts < Self.mostShapes else { return }
    attempts += 1
    if let shape = shape() { shapes.insert(shape, at: 0) }
  }

  private func failure(_ problem: ImportProblem, _ path: String, line: Int) -> BatchError {
    BatchError(
      options.mostRejects == 0 ? .refused : .tooManyRejects, "line \(line): \(problem)",
      hint: options.mostRejects == 0
        ? "Correct the file, or leave such lines out with --max-rejects" : "Correct the file, or raise --max-rejects",
      effect: .nothingWritten, path: path)
  }

  private static func header(_ fields: [ImportValue]) throws -> [String] {
    let names = fields.map { if case .field(let name) = $0 { name } else { "" } }
    guard !names.contains(""), Set(names).count == names.count else {
      throw ImportProblem("the header has a name twice, or a column without name")
    }
    guard !names.contains("@table") else {
      throw ImportProblem("the file comes from export --raw, and only exports with a model can be imported")
    }
    return names
  }

  /// Whether a column's name is a relationship of any entity that may stand in the file, or one with an attribute.
  private func isRelationship(_ name: String) -> Bool {
    let plain = name.split(separator: ".", maxSplits: 1).first.map(String.init) ?? name
    return plan.entities.values.contains { $0.relationships[plain] != nil && $0.attributes[name] == nil }
  }
}

extension ImportReader {
  /// Adds the object of a line that was read by its shape.
  private func add(_ shape: ImportShape, _ line: Int) throws {
    let address = spool.address(shape.entity.table, key: shape.key)
    try links.define(shape.row.value, of: shape.entity, at: address)
    shape.row.write(to: record)
    try spool.add(shape.entity.table, address, line: line, record: record)
    objects += 1
  }

  /// The entity of an object; that of the file's name if it does not name its own.
  private func entity(of object: ImportObject) throws -> ImportPlan.Entity {
    let name = object.entity ?? input.stem
    guard let entity = plan.entities[name] else {
      let known = NearName.question(name, in: plan.layout.entityNames)
      throw ImportProblem(
        object.entity == nil
          ? "the object has no entity, and the file's name is none" : "there is no entity \(name)\(known)")
    }
    guard !entity.isAbstract else { throw ImportProblem("\(name) is abstract, and has no objects of its own") }
    return entity
  }

  /// Adds an object, and returns its entity.
  private func add(_ object: ImportObject, line: Int) throws -> ImportPlan.Entity {
    let entity = try entity(of: object)
    var row = entity.template
    for member in object.attributes {
      guard let attribute = entity.attributes[member.name] else {
        throw ImportLinks.unknown(member.name, entity, in: plan)
      }
      row[attribute.column] = try attribute.stored(member.value)
    }
    if let key = object.key, key < 1 { throw ImportProblem("the key \(key) is not above 0") }
    for (column, name) in entity.required where row[column] == .null && entity.attributes[name] != nil {
      throw ImportProblem("\(name) is required and has no value; --validate none writes such objects as they are")
    }
    // All that may be wrong with the object itself is found by now, so that a line counts whole or not at all.
    let found = try object.relationships.map { try links.targets($0, of: entity) }
    let address = spool.address(entity.table, key: object.key)
    if uuid == nil, let uri = object.uri { uuid = Self.uuid(of: uri) }
    note(row, entity)
    try links.define({ row[$0] }, of: entity, at: address)
    for (relationship, targets) in found { try links.add(targets, relationship, of: entity, at: address, line: line) }
    record.reset()
    for value in row { record.append(value) }
    try spool.add(entity.table, address, line: line, record: record)
    objects += 1
    return entity
  }

  /// Files beside the store that a row names.
  private func note(_ row: [Value], _ entity: ImportPlan.Entity) {
    for attribute in entity.attributes.values where attribute.attribute.allowsExternalBinaryDataStorage {
      guard case .blob(let bytes) = row[attribute.column] else { continue }
      if case .file(let name) = bytes.withUnsafeBytes({ ExternalValue($0) }) { externalFiles.insert(name) }
    }
  }

  /// The UUID of `x-coredata://UUID/Entity/p7`.
  private static func uuid(of uri: String) -> String? {
    let parts = uri.split(separator: "/")
    return parts.count == 4 && parts[0] == "x-coredata:" ? String(parts[1]) : nil
  }
}
