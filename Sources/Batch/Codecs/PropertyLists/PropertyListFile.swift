import Foundation
import RunSupport

/// Reads property lists from files, whichever of the three forms they have: binary, XML or the old text form.
package enum PropertyListFile {
  /// Reads a list in one of the forms that values of stores have, binary or XML; the tree of a binary one may weigh so
  /// much and eight times its bytes. Nil for bytes that begin otherwise. Throws whatever is wrong with others.
  package static func read(value bytes: [UInt8], greatestWeight: Int) throws -> PropertyListValue? {
    if PropertyListReader.isBinary(bytes) { return try PropertyListReader.read(bytes, greatestWeight: greatestWeight) }
    guard bytes.starts(with: "<?xml".utf8) || bytes.starts(with: "<plist".utf8) else { return nil }
    return try PropertyListXMLReader.read(Data(bytes), path: "")
  }

  /// Reads a list in XML that is a part of a file; `path` is for messages. Throws ``BatchError`` with the code
  /// `badModel`.
  package static func read(xml bytes: [UInt8], path: String) throws -> PropertyListValue {
    try PropertyListXMLReader.read(Data(bytes), path: path)
  }

  /// Throws ``BatchError`` with the code `badModel` and the path.
  package static func read(_ path: String) throws -> PropertyListValue {
    let data = try XMLFile.contents(of: path, code: .badModel)
    let bytes = Array(data)
    do {
      if PropertyListReader.isBinary(bytes) { return try PropertyListReader.read(bytes) }
      let first = bytes.first { $0 > UInt8(ascii: " ") }
      // A byte order mark begins no text form.
      guard first != UInt8(ascii: "<"), first ?? 0 < 0x80 else {
        return try PropertyListXMLReader.read(data, path: path)
      }
      return try PropertyListTextReader.read(bytes)
    } catch let damage as PropertyListReader.Damage {
      throw BatchError(.badModel, "\(damage)", hint: "Compile the model again", path: path)
    }
  }
}
