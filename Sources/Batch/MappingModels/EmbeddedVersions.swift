import CoreDataModel
import Foundation

extension MappingModelReader {
  /// The versions that a mapping model of Xcode's has inside, as far as they can be read; compiled ones have none.
  package static func versions(in path: String) -> (source: ManagedObjectModel?, destination: ManagedObjectModel?) {
    guard (path as NSString).pathExtension == "xcmappingmodel",
      let file = try? MappingXMLReader.read(path + "/xcmapping.xml"),
      let root = file.objects.values.first(where: { $0.type == "XDDEVMAPPINGMODEL" })
    else { return (nil, nil) }
    func version(_ key: String) -> ManagedObjectModel? {
      root.attributes[key].flatMap(bytes).flatMap { try? EmbeddedModelReader.read($0, name: "") }
    }
    return (version("sourcemodeldata"), version("destinationmodeldata"))
  }
}
