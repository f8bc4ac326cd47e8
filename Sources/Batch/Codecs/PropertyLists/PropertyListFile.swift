import Foundation
import RunSupport

/// Reads property lists from files, whichever of the three forms they have: binary, XML or the old text form.
package enum PropertyListFile {
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
      throw BatchError(
        .badModel, "the property list cannot be read", hint: "Compile the model again", path: path, cause: damage)
    }
  }
}
