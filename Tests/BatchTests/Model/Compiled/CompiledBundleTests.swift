import Foundation
import Testing

@testable import Codecs
@testable import CoreDataModel
@testable import RunSupport

@Suite("Compiled models as files")
struct CompiledBundleTests {
  static func write(_ bytes: [UInt8], _ path: String) throws {
    let file = URL(fileURLWithPath: path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: file)
  }

  static func version(_ name: String) -> ManagedObjectModel {
    ManagedObjectModel(
      name: name,
      entities: [EntityDescription(name: "A", attributes: [AttributeDescription(name: "\(name.count)", type: .string)])]
    )
  }

  static func info(_ current: String?, _ hashes: [String: [String: [UInt8]]]) -> [UInt8] {
    var entries: [String: PropertyListValue] = [
      "NSManagedObjectModel_VersionHashes": .dictionary(hashes.mapValues { .dictionary($0.mapValues { .data($0) }) })
    ]
    entries["NSManagedObjectModel_CurrentVersionName"] = current.map { .string($0) }
    return PropertyListWriter.write(.dictionary(entries))
  }

  @Test("All versions of a .momd are read in natural order, with the current one, and nothing else in it")
  func bundle() throws {
    let folder = try ModelFolder(["Zoo.momd/Zoo 2.omo": "momv2$", "Zoo.momd/en.lproj/x.strings": ""])
    let names = ["Zoo 10", "Zoo 2", "Zoo"]
    for name in names {
      try Self.write(CompiledModelWriter.write(Self.version(name)).bytes, folder.path + "/Zoo.momd/\(name).mom")
    }
    let hashes = Dictionary(uniqueKeysWithValues: names.map { ($0, Self.version($0).versionHashes) })
    try Self.write(Self.info("Zoo 2", hashes), folder.path + "/Zoo.momd/VersionInfo.plist")
    let bundle = try #require(try ModelReader.read(path: folder.path + "/Zoo.momd").first)
    #expect(bundle.versions.map(\.name) == ["Zoo", "Zoo 2", "Zoo 10"] && bundle.currentVersion == "Zoo 2")
    #expect(bundle.warnings == [] && bundle.versions[1] == Self.version("Zoo 2"))
    #expect(try ModelReader.read(path: folder.path).map(\.name) == ["Zoo"])
  }

  @Test("Hashes in VersionInfo.plist that do not follow from a version are a warning that names version and entity")
  func contradiction() throws {
    let folder = try ModelFolder([:])
    try Self.write(CompiledModelWriter.write(Self.version("One")).bytes, folder.path + "/Zoo.momd/One.mom")
    var hashes = Self.version("One").versionHashes
    hashes["A"]?[0] ^= 1
    try Self.write(
      Self.info(nil, ["One": hashes, "Two": [:], "Three": hashes]), folder.path + "/Zoo.momd/VersionInfo.plist")
    let bundle = try #require(try ModelReader.read(path: folder.path).first)
    #expect(bundle.warnings.count == 2 && bundle.currentVersion == nil)
    #expect(bundle.warnings[0] == "the version Three is listed in VersionInfo.plist, but has no .mom file")
    #expect(bundle.warnings[1].contains("the version One differ") && bundle.warnings[1].hasSuffix(": A"))
  }

  @Test("Single .mom files are found by their path and in folders, beside sources")
  func files() throws {
    let folder = try ModelFolder(["S.xcdatamodel/contents": "<model><entity name=\"A\"/></model>"])
    try Self.write(CompiledModelWriter.write(Self.version("B")).bytes, folder.path + "/sub/B.mom")
    try Self.write(CompiledModelWriter.write(Self.version("CC")).bytes, folder.path + "/CC.mom")
    #expect(try ModelReader.read(path: folder.path).map(\.name) == ["CC", "S", "B"])
    #expect(try ModelReader.read(path: folder.path + "/CC.mom").first?.versions == [Self.version("CC")])
    #expect(try ModelReader.read(path: folder.path).allSatisfy { $0.warnings.isEmpty })
  }

  @Test(
    "A compiled model that is none is refused with its path and what to do",
    arguments: [
      [], Array("bplist00".utf8), Array("<plist><string>a</string></plist>".utf8), Array("momv2$".utf8),
      Array("{".utf8),
    ])
  func refused(bytes: [UInt8]) throws {
    let folder = try ModelFolder([:])
    try Self.write(bytes, folder.path + "/A.momd/A.mom")
    let error = #expect(throws: BatchError.self) { try ModelReader.read(path: folder.path) }
    #expect(error?.code == .badModel && error?.path?.hasSuffix("A.mom") == true && error?.hint != nil)
    let empty = try ModelFolder(["B.momd/VersionInfo.plist": "{}"])
    #expect(throws: BatchError.self) { try ModelReader.read(path: empty.path) }
  }
}
