import Codecs
import CoreDataModel
import Foundation
import RunSupport

/// What can still be told of a mapping model that cannot be read: which versions it was made for.
package struct MappingRemains: Sendable, Equatable {
  /// The file's name without extension.
  package let name: String
  /// What it calls its versions, if it says so.
  package private(set) var source: String?
  package private(set) var destination: String?
  /// Version hashes of entities that are in it.
  package private(set) var hashes: Set<[UInt8]> = []

  /// Looks at an `.xcmappingmodel`, a `.cdm`, or a mapping file.
  package init(path: String) {
    name = PackageFolders.stem(path)
    switch (path as NSString).pathExtension {
    case "xcmappingmodel": look(at: MappingXMLReader.readable(path + "/xcmapping.xml"))
    case "cdm": hashes = Self.hashes(in: (try? XMLFile.contents(of: path, code: .badMapping)) ?? Data())
    default: look(at: (try? XMLFile.contents(of: path, code: .badMapping)) ?? Data())
    }
  }

  private mutating func look(at file: MappingXMLReader) {
    guard let root = file.objects.values.first(where: { $0.type == "XDDEVMAPPINGMODEL" }) else { return }
    func name(_ key: String) -> String? {
      root.attributes[key].map(PackageFolders.stem).flatMap { $0.isEmpty ? nil : $0 }
    }
    (source, destination) = (name("sourcemodelpath"), name("destinationmodelpath"))
    for key in ["sourcemodeldata", "destinationmodeldata"] {
      let bytes = root.attributes[key].flatMap(MappingModelReader.bytes)
      let model = bytes.flatMap { try? EmbeddedModelReader.read($0, name: "") }
      hashes.formUnion(model.map { Array($0.versionHashes.values) } ?? [])
    }
  }

  /// The lines of a mapping file that name its versions.
  private mutating func look(at data: Data) {
    for line in String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline) {
      guard let match = line.wholeMatch(of: /(from|to):\s+(?:"([^"]+)"|'([^']+)'|([^"'\s{#][^#{]*?))\s*(?:#.*)?/),
        let name = match.2 ?? match.3 ?? match.4
      else { continue }
      if match.1 == "from" { source = source ?? String(name) } else { destination = destination ?? String(name) }
    }
  }

  /// Values of 32 bytes in a binary property list, wherever they are: its table of places may be lost.
  private static func hashes(in data: Data) -> Set<[UInt8]> {
    let (bytes, mark, size) = (Array(data), [0x4F, 0x10, 0x20] as [UInt8], 32)
    var found: Set<[UInt8]> = []
    for place in bytes.indices.dropLast(mark.count + size - 1)
    where bytes[place] == mark[0] && bytes[place + 1] == mark[1] && bytes[place + 2] == mark[2] {
      found.insert(Array(bytes[(place + mark.count)..<(place + mark.count + size)]))
    }
    return found
  }
}
