/// Reads the fields of a line of CSV (RFC 4180). A field without quotes that is empty is NULL; `""` is an empty text.
enum CSVFields {
  /// The fields; throws ``ImportProblem``.
  static func read(_ line: UnsafeRawBufferPointer) throws -> [ImportValue] {
    var (fields, place) = ([ImportValue](), 0)
    while true {
      let isQuoted = place < line.count && line[place] == 0x22
      let bytes = try isQuoted ? quoted(line, &place) : plain(line, &place)
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw ImportProblem("field \(fields.count + 1) is not UTF-8")
      }
      fields.append(text.isEmpty && !isQuoted ? .null : .field(text))
      guard place < line.count else { return fields }
      guard line[place] == 0x2C else { throw ImportProblem("field \(fields.count) goes on after its quotation mark") }
      place += 1
      if place == line.count {
        fields.append(.null)
        return fields
      }
    }
  }

  private static func plain(_ line: UnsafeRawBufferPointer, _ place: inout Int) -> [UInt8] {
    let start = place
    while place < line.count, line[place] != 0x2C { place += 1 }
    return Array(line[start..<place])
  }

  private static func quoted(_ line: UnsafeRawBufferPointer, _ place: inout Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    place += 1
    while place < line.count {
      let byte = line[place]
      place += 1
      guard byte == 0x22 else {
        bytes.append(byte)
        continue
      }
      guard place < line.count, line[place] == 0x22 else { return bytes }
      bytes.append(byte)
      place += 1
    }
    throw ImportProblem("a quotation does not end")
  }
}
