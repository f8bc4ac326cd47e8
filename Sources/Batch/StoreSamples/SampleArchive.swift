/// A keyed archive of one text, as the default transformers write it; only the text differs from row to row.
enum SampleArchive {
  /// Bytes of the text, all ASCII.
  static let textLength = 24

  /// The archive with a text of blanks, and where the text stands in it.
  static let template: (bytes: [UInt8], textStart: Int) = {
    // `$version`, `$archiver`, `$top` with the root's number, `$objects`.
    let objects: [[UInt8]] = [
      [0xD4, 1, 2, 3, 4, 5, 6, 7, 10],
      string("$version"), string("$archiver"), string("$top"), string("$objects"),
      [0x12, 0x00, 0x01, 0x86, 0xA0], string("NSKeyedArchiver"),
      [0xD1, 8, 9], string("root"), [0x80, 1],
      [0xA2, 11, 12], string("$null"), string(String(repeating: " ", count: textLength)),
    ]
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for object in objects {
      offsets.append(UInt8(bytes.count))
      bytes += object
    }
    let table = UInt8(bytes.count)
    let textStart = bytes.count - textLength
    // Trailer: six unused bytes, sizes of offsets and references, then count, root and table as eight bytes each.
    bytes += offsets + [0, 0, 0, 0, 0, 0, 1, 1] + word(UInt8(objects.count)) + word(0) + word(table)
    return (bytes, textStart)
  }()

  private static func string(_ text: String) -> [UInt8] {
    let count = UInt8(text.utf8.count)
    return (count < 15 ? [0x50 | count] : [0x5F, 0x10, count]) + text.utf8
  }

  private static func word(_ value: UInt8) -> [UInt8] { [0, 0, 0, 0, 0, 0, 0, value] }
}
