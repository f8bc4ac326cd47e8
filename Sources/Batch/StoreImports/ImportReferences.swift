import Codecs
import CoreDataStore
import RunSupport
import Streams

/// References by the value of an attribute: who has which value, and who asks for it, sorted together on disk.
final class ImportReferences {
  /// What becomes of an answer.
  struct Question {
    /// The row whose relationship it is.
    var table: Int
    var owner: ImportAddress
    var entity: Int
    var relationship: String
    /// Its place in a list.
    var place: Int
    var line: Int
  }

  private let sorter: ExternalSorter
  private var questions = 0

  init(files: StepFiles, keepsFile: Bool = false) {
    sorter = ExternalSorter(
      memoryBytes: files.budget.sortBytes / 2, path: files.path("references"), fileSystem: files.fileSystem,
      keepsFile: keepsFile)
  }

  var isEmpty: Bool { questions == 0 }

  /// `attribute` is a root entity's number and a path.
  private static func head(_ attribute: String, _ value: Value) throws -> [UInt8] {
    var bytes = Array(attribute.utf8) + [0]
    switch value {
    case .null: throw ImportProblem("a reference by an attribute needs a value")
    case .integer(let integer):
      bytes.append(1)
      bytes.append(biased: integer)
    case .real(let double):
      bytes.append(2)
      bytes.append(biased: Int64(bitPattern: double.bitPattern))
    case .text(let text): append(3, Array(text.utf8), to: &bytes)
    case .blob(let blob): append(4, blob, to: &bytes)
    }
    return bytes
  }

  /// `User.userId = 77`, of what ``head(_:_:)`` made; a text is shortened.
  private static func shown(_ head: [UInt8]) -> String {
    guard let end = head.firstIndex(of: 0), end + 1 < head.count else { return "a value" }
    let value = head.withUnsafeBytes { bytes -> String in
      let place = end + 2
      switch bytes[end + 1] {
      case 1: return "\(bytes.biased(at: place))"
      case 2: return "\(Double(bitPattern: UInt64(bitPattern: bytes.biased(at: place))))"
      case 3:
        let text = String(decoding: bytes[place..<(bytes.count - 2)], as: UTF8.self).replacing("\0\u{FFFD}", with: "\0")
        return text.count <= 40 ? "\"\(text)\"" : "\"\(text.prefix(40))…\""
      case 4: return "\(hex(bytes[place..<(bytes.count - 2)]))"
      default: return "a value of more than \(longestValue >> 10) KiB"
      }
    }
    return "\(String(decoding: head[..<end], as: UTF8.self)) = \(value)"
  }

  private static func hex(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
    bytes.prefix(20).hexadecimal + (bytes.count > 20 ? "…" : "")
  }

  /// What is longer is compared by its hash.
  private static let longestValue = 1 << 10

  /// No value may be the beginning of another: 00 is 00 FF, and 00 00 ends it.
  private static func append(_ tag: UInt8, _ value: [UInt8], to bytes: inout [UInt8]) {
    guard value.count <= longestValue else {
      bytes.append(tag | 0x80)
      bytes += SHA256.hash(value)
      return
    }
    bytes.append(tag)
    for byte in value { bytes += byte == 0 ? [0, 0xFF] : [byte] }
    bytes += [0, 0]
  }

  /// Says that an object has a value.
  func define(_ attribute: String, _ value: Value, entity: Int, at address: ImportAddress, line: Int) throws {
    var bytes = try Self.head(attribute, value)
    let length = bytes.count
    bytes.append(0)
    address.write(to: &bytes)
    bytes.append(short: entity)
    bytes.append(biased: Int64(line))
    bytes.append(short: length)
    try bytes.withUnsafeBytes { try sorter.add($0) }
  }

  /// Asks for the object that has a value.
  func ask(_ attribute: String, _ value: Value, for question: Question) throws {
    questions += 1
    var bytes = try Self.head(attribute, value)
    let length = bytes.count
    bytes.append(1)
    bytes.append(biased: Int64(question.line))
    question.owner.write(to: &bytes)
    bytes.append(short: question.table)
    bytes.append(short: question.entity)
    bytes.append(biased: Int64(question.place))
    bytes += Array(question.relationship.utf8)
    bytes.append(short: length)
    try bytes.withUnsafeBytes { try sorter.add($0) }
  }

  /// An object that has a value.
  private struct Holder {
    let address: ImportAddress
    let entity: Int
    let line: Int

    init(_ bytes: UnsafeRawBufferPointer, at place: Int) {
      address = ImportAddress(bytes, at: place)
      entity = bytes.short(at: place + ImportAddress.length)
      line = Int(bytes.biased(at: place + ImportAddress.length + 2))
    }
  }

  /// Calls `body` with each question and its answer: Z_ENT and address. `unique` says which attribute two objects of
  /// two entities may not share a value of. Throws ``BatchError`` with the line if they do, or if no object has the value
  /// that is asked for, or several have; `rejects` lines were left out.
  func answer(
    _ lines: ImportLines, rejects: UInt64, unique: (String, Int, Int) -> String?,
    _ body: (Question, Int, ImportAddress) throws -> Void
  ) throws {
    var (head, found): ([UInt8], [Holder]) = ([], [])
    try sorter.drain { bytes in
      let length = bytes.short(at: bytes.count - 2)
      if !head.elementsEqual(bytes[..<length]) { (head, found) = (Array(bytes[..<length]), []) }
      guard bytes[length] == 1 else {
        return try Self.take(Holder(bytes, at: length + 1), of: head, in: &found, lines, unique: unique)
      }
      let question = Question(bytes, at: length)
      guard let only = found.first, found.count == 1 else {
        let leftOut = rejects > 0 ? " (\(rejects.counted("line")) \(rejects.verb("was", "were")) left out)" : ""
        let what = found.isEmpty ? "no object has" + leftOut : "several objects have"
        throw lines.refusal(
          "\(question.relationship) refers to an object by \(Self.shown(head)), which \(what)", at: question.line)
      }
      try body(question, only.entity, only.address)
    }
  }

  /// Takes an object that has the value of a head.
  private static func take(
    _ holder: Holder, of head: [UInt8], in found: inout [Holder], _ lines: ImportLines,
    unique: (String, Int, Int) -> String?
  ) throws {
    let attribute = found.isEmpty ? "" : String(decoding: head.prefix { $0 != 0 }, as: UTF8.self)
    for other in found {
      guard let name = unique(attribute, other.entity, holder.entity) else { continue }
      throw lines.refusal(
        "two objects have \(shown(head)), and --unique \(name) says that no two have the same",
        at: min(other.line, holder.line), and: max(other.line, holder.line))
    }
    // Two are enough to know that the value is not unique, and one of each entity to find another one.
    if found.count < 2 || !found.contains(where: { $0.entity == holder.entity }) { found.append(holder) }
  }
}

extension ImportReferences.Question {
  /// Reads what ``ImportReferences/ask(_:_:for:)`` wrote behind the value.
  fileprivate init(_ bytes: UnsafeRawBufferPointer, at length: Int) {
    self.init(
      table: bytes.short(at: length + 18), owner: ImportAddress(bytes, at: length + 9),
      entity: bytes.short(at: length + 20),
      relationship: String(decoding: bytes[(length + 30)..<(bytes.count - 2)], as: UTF8.self),
      place: Int(bytes.biased(at: length + 22)), line: Int(bytes.biased(at: length + 1)))
  }
}

// What a checkpoint continues.
extension ImportReferences {
  func encode(into state: inout ByteWriter) throws {
    state.writeInt(questions)
    try sorter.encode(into: &state)
  }

  func sync() throws { try sorter.sync() }

  func restore(from state: inout ByteReader) throws {
    questions = try state.readInt()
    try sorter.restore(from: &state)
  }
}
