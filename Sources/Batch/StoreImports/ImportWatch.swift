import RunSupport

/// Objects whose lines are looked for when files are read once more, as there is something wrong with them.
final class ImportWatch {
  /// An object, by the position of its table and its key.
  struct Place: Hashable {
    let table: Int
    let key: Int64
  }

  private let addresses: [(place: Place, address: ImportAddress)]
  /// The lines of those that were found.
  private(set) var lines: [Place: Int] = [:]
  /// The lines of those that were left out, as far as these lines say a key.
  private(set) var leftOut: [Place: Int] = [:]

  /// `spool` has all objects, or had them.
  init(_ places: [Place], _ spool: ImportSpool) {
    addresses = places.map { ($0, spool.address($0.table, of: $0.key)) }
  }

  func see(_ table: Int, _ address: ImportAddress, line: Int) {
    for (place, wanted) in addresses where place.table == table && wanted == address { lines[place] = line }
  }

  /// Sees rows of lines that follow each other.
  func see(_ stretch: ImportStretch, after number: Int64, line: Int, _ bytes: UnsafeRawBufferPointer) {
    guard addresses.contains(where: { $0.place.table == stretch.table }) else { return }
    var (rows, line) = (ImportStretchRows(bytes, isKeyed: stretch.isKeyed, after: number), line)
    while rows.next() != nil {
      see(
        stretch.table, stretch.isKeyed ? ImportAddress(key: rows.number) : ImportAddress(new: rows.number), line: line)
      line += 1
    }
  }

  func seeLeftOut(_ found: Place, line: Int) {
    for (place, _) in addresses where place == found && leftOut[place] == nil { leftOut[place] = line }
  }
}

// What a line says that is wrong.
extension ImportReader {
  /// Table and key of the object of a line, as far as the line says them.
  func place(of line: UnsafeRawBufferPointer) -> ImportWatch.Place? {
    guard let object = try? object(line) else { return nil }
    let uri = object.uri.flatMap { try? uris.read($0) }
    guard let entity = plan.entities[object.entity ?? uri?.entity ?? input.stem], let key = object.key ?? uri?.key
    else {
      return nil
    }
    return ImportWatch.Place(table: entity.table, key: key)
  }

  private func object(_ line: UnsafeRawBufferPointer) throws -> ImportObject {
    guard input.isCSV else { return try ImportObject(json: line) }
    return try ImportObject(fields: CSVFields.read(line), header: input.header ?? [])
  }
}
