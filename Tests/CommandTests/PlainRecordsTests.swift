import Foundation
import GRDB
import Testing

@Suite("Record types for ordinary tables")
struct PlainRecordsTests {
  /// The names of GRDB that the records use, so that they are checked where its module is not at hand.
  private static let stub = """
    import Foundation
    public struct DatabaseValue: Sendable {}
    public protocol DatabaseValueConvertible {}
    extension String: DatabaseValueConvertible {
      public static func fromDatabaseValue(_ value: DatabaseValue) -> String? { nil }
    }
    public protocol ColumnExpression {}
    public protocol TableRecord { static var databaseTableName: String { get } }
    public protocol FetchableRecord {
      static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy
    }
    public protocol PersistableRecord: TableRecord {
      static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy
      static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy
    }
    extension FetchableRecord {
      public static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy { .timeIntervalSince1970 }
    }
    extension PersistableRecord {
      public static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy { .timeIntervalSince1970 }
      public static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy { .uppercaseString }
    }
    public enum DatabaseDateDecodingStrategy: Sendable { case timeIntervalSince1970, custom(@Sendable (DatabaseValue) -> Date?) }
    public enum DatabaseDateEncodingStrategy: Sendable {
      case timeIntervalSince1970, custom(@Sendable (Date) -> (any DatabaseValueConvertible)?)
    }
    public enum DatabaseUUIDEncodingStrategy: Sendable { case uppercaseString }
    public struct ForeignKey: Sendable { public init(_ columns: [String], to others: [String]? = nil) {} }
    public struct BelongsTo<Origin, Destination>: Sendable {}
    public struct HasMany<Origin, Destination>: Sendable {}
    extension TableRecord {
      public static func belongsTo<D: TableRecord>(_ d: D.Type, key: String? = nil, using: ForeignKey? = nil) -> BelongsTo<Self, D> { .init() }
      public static func hasMany<D: TableRecord>(_ d: D.Type, key: String? = nil, using: ForeignKey? = nil) -> HasMany<Self, D> { .init() }
      public static func hasMany<P, D: TableRecord>(
        _ d: D.Type, through: HasMany<Self, P>, using: BelongsTo<P, D>, key: String? = nil
      ) -> HasMany<Self, D> { .init() }
    }
    """

  private func swiftc(_ words: [String]) throws -> (code: Int32, text: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["swiftc", "-swift-version", "6"] + words
    let pipe = Pipe()
    (process.standardOutput, process.standardError) = (pipe, pipe)
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
  }

  @Test("They are checked by the compiler, for either inheritance, both forms of dates and names of either style")
  func check() throws {
    let folder = try CommandFolder()
    let (store, model) = try ZooModel.store(folder)
    try Self.stub.write(toFile: folder.file("GRDB.swift"), atomically: false, encoding: .utf8)
    let made = try swiftc([
      "-emit-module", "-module-name", "GRDB", "-emit-module-path", folder.file("GRDB.swiftmodule"),
      folder.file("GRDB.swift"),
    ])
    #expect(made.code == 0, "\(made.text)")
    for (number, words) in [
      [], ["--inheritance", "class", "--dates", "unix"], ["--names", "core-data"],
    ].enumerated() {
      let records = folder.file("Records\(number).swift")
      let outcome = try folder.run(
        "godwit",
        ["migrate", store, "--models", model, "--to-sqlite", "plain", "--output", folder.file("\(number).sqlite")]
          + ["--records", records] + words)
      #expect(outcome.code == 0, "\(outcome)")
      let checked = try swiftc(["-typecheck", "-warnings-as-errors", "-I", folder.path, records])
      #expect(checked.code == 0, "\(words): \(checked.text)")
      let text = try String(contentsOfFile: records, encoding: .utf8)
      for word in [
        "struct KeeperRecord: Codable", "static let animals = hasMany(AnimalRecord.self",
        "static let boss = belongsTo(",
        "static let tags = hasMany(TagRecord.self, through:", "struct SelectRecord", "var `group`: Bool?",
      ] where word != "var `group`: Bool?" { #expect(text.contains(word), "\(words): \(word)") }
    }
  }
}
