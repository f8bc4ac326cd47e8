import RunSupport
import Streams

// A file is read in pieces.
extension ImportReader {
  /// Files that are shorter are read by one thread.
  private static let shortFile: UInt64 = 1 << 20
  private static let piecesAtWork = 8
  private static let bytesAtWork = 3 << 20

  func read(_ lines: LineReader, _ path: String, size: UInt64, look: (ImportPiece) throws -> Void) throws {
    if lines.place.offset == 0 { before = objects + rejects }
    let (count, known) = (PieceCount(), self.known)
    @Sendable func next() throws -> (ImportPiece, weight: Int)? {
      let piece = ImportPiece()
      guard try lines.fill(piece, bytes: ImportPiece.bytes(ofPiece: count.next())) else { return nil }
      return (piece, piece.byteCount)
    }
    func take(_ piece: ImportPiece) throws {
      try self.take(piece, of: path)
      place = piece.place
      try look(piece)
    }
    // The first lines say what the others look like.
    while shapes.isEmpty, count.value < Self.piecesAtWork, let (piece, _) = try next() {
      piece.read(shapes)
      try take(piece)
    }
    try OrderedWork.run(
      helpers: size < Self.shortFile ? 0 : options.helpers, depth: Self.piecesAtWork, mostWeight: Self.bytesAtWork,
      make: next, work: { $0.read(known.copies()) }, take: take)
    guard objects + rejects == before else { return }
    guard !input.isCSV || input.header != nil else {
      throw ImportLines(paths: [path]).refusal(
        "the file is empty, and the first line of CSV has the names of the columns", at: 1)
    }
    emptyFiles.append(path)
  }

  private func take(_ piece: ImportPiece, of path: String) throws {
    for item in piece.items {
      switch item {
      case .rows(let stretch):
        try takeRows(stretch, piece.bytes(of: stretch), of: path)
      case .line(let line):
        try guarding(line, of: path, place: { piece.withBytes(of: line, self.place(of:)) }) {
          try piece.withBytes(of: line) { try take($0, number: ImportLines.number(line.number, ofFile: position)) }
        }
      }
    }
  }

  /// Takes rows together, or, where something is wrong with them, each by itself.
  private func takeRows(_ stretch: ImportStretch, _ bytes: UnsafeRawBufferPointer, of path: String) throws {
    do {
      return try add(stretch, line: ImportLines.number(stretch.firstLine, ofFile: position), bytes)
    } catch is ImportProblem {}
    var (rows, line) = (ImportStretchRows(bytes, isKeyed: stretch.isKeyed), stretch.firstLine)
    while let record = rows.next() {
      let place = stretch.isKeyed ? ImportWatch.Place(table: stretch.table, key: rows.number) : nil
      try guarding(.init(start: 0, end: 0, number: line, last: line), of: path, place: { place }) {
        own.removeAll()
        var one = ImportStretch(stretch.table, stretch.entity, key: stretch.isKeyed ? rows.number : nil, line: 0, at: 0)
        one.add(stretch.isKeyed ? rows.number : nil, record, to: own)
        try add(one, line: ImportLines.number(line, ofFile: position), own.bytes(one.range))
      }
      line += 1
    }
  }

  /// Adds rows, all or none.
  func add(_ stretch: ImportStretch, line: Int, _ bytes: UnsafeRawBufferPointer) throws {
    let before = spool.newRows[stretch.table]
    if let watch {
      try spool.count(stretch)
      watch.see(stretch, after: before, line: line, bytes)
      objects += UInt64(stretch.count)
      return
    }
    try spool.add(stretch, line: line, bytes)
    objects += UInt64(stretch.count)
    guard let entity = plan.byNumber[stretch.entity], links.defines(entity) else { return }
    var (rows, line) = (ImportStretchRows(bytes, isKeyed: stretch.isKeyed, after: before), line)
    while let record = rows.next() {
      guard decoder.decode(record) else { throw BatchError(.failed, "a row of the import is damaged") }
      let address = stretch.isKeyed ? ImportAddress(key: rows.number) : ImportAddress(new: rows.number)
      try links.define({ try decoder.value($0) }, of: entity, at: address, line: line)
      line += 1
    }
  }

  /// Leaves a wrong line out, if more may be.
  private func guarding(
    _ line: ImportPiece.Line, of path: String, place: () -> ImportWatch.Place?, _ body: () throws -> Void
  ) throws {
    do { try body() } catch let problem as ImportProblem {
      // Without a header nothing is known of the other lines.
      guard !input.isCSV || input.header != nil else {
        throw ImportLines(paths: [path]).refusal(told(problem, line), at: line.number)
      }
      guard mayLeaveOut else { throw failure(told(problem, line), path, line: line.number) }
      rejects += 1
      if let watch {
        guard let place = place() else { return }
        return watch.seeLeftOut(place, line: ImportLines.number(line.number, ofFile: position))
      }
      try leaveOut(.init(path: path, line: line.number, reason: told(problem, line)))
    }
  }

  private func leaveOut(_ line: ImportReject) throws {
    if let list { return try list.add(line) }
    try CallersError.marking { try reject(line) }
  }

  /// What is wrong; and where a quotation has taken several lines together, that it has.
  private func told(_ problem: ImportProblem, _ line: ImportPiece.Line) -> String {
    guard line.last > line.number else { return problem.description }
    return "\(problem) (a quotation makes lines \(line.number) to \(line.last) one)"
  }
}
