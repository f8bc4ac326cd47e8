/// Reads the fields of a line of CSV (RFC 4180). A field without quotes that is empty is NULL; `""` is an empty text.
enum CSVFields {
  /// The fields; throws ``ImportProblem``.
  static func read(_ line: UnsafeRawBufferPointer) throws -> [ImportValue] {
    var (fields, place) = ([ImportValue](), 0)
    while true {
      let isQuoted = place < line.count && line[place] == 0x22
      let bytes = try isQuoted ? quoted(line, &place) : plain(line, &place, number: fields.count + 1)
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw ImportProblem("field \(fields.count + 1) is not UTF-8")
      }
      fields.append(text.isEmpty && !isQuoted ? .null : .field(text))
      guard place < line.count else { return fields }
      guard line[place] == 0x2C else {
        throw line[place] == 0x0D
          ? carriageReturn : ImportProblem("field \(fields.count) goes on after its quotation mark")
      }
      place += 1
      if place == line.count {
        fields.append(.null)
        return fields
      }
    }
  }

  private static let carriageReturn = ImportProblem(
    "a line ends with a carriage return alone; end lines with a line feed, or put the field in quotation marks")

  private static func plain(
    _ line: UnsafeRawBufferPointer, _ place: inout Int, number: Int
  ) throws -> [UInt8] {
    let start = place
    while place < line.count, line[place] != 0x2C {
      if line[place] == 0x0D { throw carriageReturn }
      if line[place] == 0x22 {
        throw ImportProblem(
          "field \(number) has a quotation mark and is in none: double the mark, and put the field in such marks")
      }
      place += 1
    }
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
