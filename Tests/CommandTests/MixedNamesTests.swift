import Foundation
import Testing

@Suite("Exports of names that are something else in each sub-entity")
struct MixedNamesTests {
  private let folder: CommandFolder
  private let model: String
  private let store: String
  private static let file = "0B6E2C1D-7C3F-4E55-9E3B-6D1C8F0A2B11"

  /// `owner` is an attribute of several types, a to-one and a to-many; `v` has five types, one of them outside the store.
  private static let contents = """
    <?xml version="1.0" encoding="UTF-8"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
    <entity name="Thing"><attribute name="name" optional="YES" attributeType="String"/>
    <relationship name="inOne" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="One" inverseName="owner" inverseEntity="One"/>
    <relationship name="inMany" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Many" inverseName="owner" inverseEntity="Many"/>
    </entity>
    <entity name="Text" parentEntity="Thing"><attribute name="owner" optional="YES" attributeType="String"/>
    <attribute name="v" optional="YES" attributeType="Boolean"/></entity>
    <entity name="Number" parentEntity="Thing"><attribute name="owner" optional="YES" attributeType="Integer 16"/>
    <attribute name="v" optional="YES" attributeType="Date"/></entity>
    <entity name="One" parentEntity="Thing"><attribute name="v" optional="YES" attributeType="UUID"/>
    <relationship name="owner" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Thing" inverseName="inOne" inverseEntity="Thing"/>
    </entity>
    <entity name="Many" parentEntity="Thing">
    <attribute name="v" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
    <relationship name="owner" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Thing" inverseName="inMany" inverseEntity="Thing"/>
    </entity>
    <entity name="Raw" parentEntity="Thing"><attribute name="owner" optional="YES" attributeType="Binary"/>
    <attribute name="v" optional="YES" attributeType="Double"/></entity>
    </model>
    """

  private static let objects = #"""
    {"entity":"Text","key":1,"attributes":{"name":"a","owner":"5, \"six\"","v":true}}
    {"entity":"Number","key":2,"attributes":{"owner":5,"v":"2019-01-01T00:00:00.5Z"}}
    {"entity":"One","key":3,"attributes":{"v":"6E0E7C0B-9D3B-4E67-A6C4-0B5C3B1D7F21"},"relationships":{"owner":{"entity":"Text","key":1}}}
    {"entity":"Many","key":4,"attributes":{"v":"AAEC"},"relationships":{"owner":[1,2]}}
    {"entity":"Many","key":5,"attributes":{"v":{"externalFile":"0B6E2C1D-7C3F-4E55-9E3B-6D1C8F0A2B11"}},"relationships":{"owner":[3]}}
    {"entity":"Raw","key":6,"attributes":{"v":5,"owner":"AQIDBA=="}}
    {"entity":"One","key":7}
    {"entity":"Text","key":8,"attributes":{"owner":"","v":false}}

    """#

  init() throws {
    folder = try CommandFolder()
    (model, store) = (folder.newPath("Kinds.xcdatamodel"), folder.file("Kinds.sqlite"))
    try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
    try Self.contents.write(toFile: model + "/contents", atomically: false, encoding: .utf8)
    let (lines, files) = (folder.newPath("in.jsonl"), folder.newPath("files"))
    try Self.objects.write(toFile: lines, atomically: false, encoding: .utf8)
    try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: true)
    try Data("a value".utf8).write(to: URL(fileURLWithPath: files + "/" + Self.file))
    let made = try folder.run("godwit", ["import", model, lines, "--output", store, "--external", files])
    guard made.code == 0 else { throw CommandProcess.Missing(description: "no store: \(made)") }
  }

  private func exported(_ format: String) throws -> String {
    let path = folder.newPath("Thing.\(format)")
    let words = ["export", store, "Thing", "--to-many", "--format", format, "--output", path]
    let outcome = try folder.run("godwit", words)
    #expect(outcome.code == 0 && outcome.error.isEmpty, "\(outcome)")
    return path
  }

  @Test(
    "CSV has one column for the name, and CSV and JSON lines give the same store again", arguments: ["csv", "jsonl"])
  func roundTrip(format: String) throws {
    let (path, again) = (try exported(format), folder.file("Again.sqlite"))
    if format == "csv" {
      let header = try String(contentsOfFile: path, encoding: .utf8).components(separatedBy: "\r\n")[0]
      #expect(header == "@entity,@key,@uri,name,owner,owner@entity,v,inMany,inOne")
    }
    let files = folder.file(".Kinds_SUPPORT/_EXTERNAL_DATA")
    let made = try folder.run("godwit", ["import", model, path, "--output", again, "--external", files])
    #expect(made.code == 0, "\(made)")
    let difference = try folder.run("godwit", ["diff", "--contents", store, again])
    #expect(difference.code == 0 && difference.output.contains("no difference"), "\(difference)")
  }

  @Test("Parquet has the name once, as text: each value as CSV has it, and a value beside the store by its file's name")
  func parquet() throws {
    let file = try ParquetDocument(try exported("parquet"))
    #expect(
      file.columns.map(\.name)
        == ["@entity", "@key", "@uri", "name", "owner", "owner@entity", "v", "v@file", "inMany", "inOne"])
    func texts(_ name: String) -> [String?] {
      file[name].map { if case .bytes(let bytes)? = $0 { String(decoding: bytes, as: UTF8.self) } else { nil } }
    }
    #expect(texts("owner") == [#"5, "six""#, "5", "1", "1 2", "3", "AQIDBA==", nil, ""])
    #expect(
      texts("v") == [
        "true", "2019-01-01T00:00:00.500000Z", "6E0E7C0B-9D3B-4E67-A6C4-0B5C3B1D7F21", "AAEC", nil, "5.0", nil, "false",
      ])
    #expect(texts("v@file") == [nil, nil, nil, nil, Self.file, nil, nil, nil])
    #expect(texts("owner@entity") == [nil, nil, "Text", nil, nil, nil, nil, nil])
    #expect(file["inMany"].prefix(3) == [.number(4), .number(4), .number(5)])
  }

  @Test("Apache Arrow reads the columns", .enabled(if: Arrow.isThere, "\(Arrow.missing)"))
  func arrow() throws {
    #expect(try Arrow.shape(try exported("parquet")) == "8 10 10\n")
  }

  @Test(
    "Notes, whose media is a to-one of attachments and a to-many of notes, are Parquet that can be read",
    .enabled(if: ExampleCorpus.isPresent, "set GODWIT_CORPUS to the corpus"))
  func notes() throws {
    let notes = ExampleCorpus.root + "/stores/RhetTbull+apple-notes-parser/NoteStore-macOS-14-Sonoma.sqlite"
    let path = folder.newPath("notes.parquet")
    let words = ["ICCloudSyncingObject", "--format", "parquet", "--to-many", "--output", path]
    let outcome = try folder.run("godwit", ["export", notes] + words)
    #expect(outcome.code == 0, "\(outcome)")
    let names = try ParquetDocument(path).columns.map(\.name)
    #expect(names.contains("media") && Set(names).count == names.count)
  }
}
