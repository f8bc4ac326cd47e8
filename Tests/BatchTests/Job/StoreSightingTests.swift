import Foundation
import Streams
import Testing

@testable import CoreDataStore
@testable import MigrationJobs

@Suite("Whether a store is the one that was planned")
struct StoreSightingTests {
  private let folder: MigrationFolder
  private let source: String

  init() throws {
    folder = try MigrationFolder(MigrationModels.all)
    source = try folder.sample("V1", rows: 60, seed: 3)
  }

  private func setTime(_ secondsAgo: Double) throws {
    let date = Date(timeIntervalSince1970: (Date().timeIntervalSince1970 - secondsAgo).rounded())
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: source)
  }

  /// Changes a page and not the header, as a write in WAL mode does that is in the file by now.
  private func change() throws {
    let file = try LocalFileSystem().open(source, .update)
    defer { file.close() }
    let end = try file.size()
    try withUnsafeBytes(of: UInt8.random(in: 1...255)) { try file.write($0, at: end - 1) }
  }

  private func reader() throws -> StoreReader {
    try StoreReader(path: source, fileSystem: LocalFileSystem(), locking: .none)
  }

  private func sighting() throws -> StoreSighting { try StoreSighting(reader(), LocalFileSystem()) }

  private func again(_ seen: StoreSighting) throws -> StoreSighting { try seen.again(reader(), LocalFileSystem()) }

  @Test("A store that nobody writes to is the same, whether it was written long ago or just now", arguments: [0.0, 60])
  func unchanged(secondsAgo: Double) throws {
    try setTime(secondsAgo)
    let seen = try sighting()
    #expect(try again(seen) == seen)
  }

  @Test("A change shows that comes within the same tick of the file system's clock as the one before")
  func sameTime() throws {
    try setTime(1)
    let seen = try sighting()
    let time = try FileManager.default.attributesOfItem(atPath: source)[.modificationDate]
    try change()
    try FileManager.default.setAttributes([.modificationDate: try #require(time)], ofItemAtPath: source)
    #expect(try again(seen) != seen)
  }

  @Test("A change of a store that was written long ago shows by its time")
  func otherTime() throws {
    try setTime(60)
    let seen = try sighting()
    try change()
    #expect(try again(seen) != seen)
  }

  @Test("Another file with the same bytes and time is another store")
  func otherFile() throws {
    try setTime(60)
    let seen = try sighting()
    try FileManager.default.copyItem(atPath: source, toPath: source + ".copy")
    let time = try #require(try FileManager.default.attributesOfItem(atPath: source)[.modificationDate])
    try FileManager.default.removeItem(atPath: source)
    try FileManager.default.moveItem(atPath: source + ".copy", toPath: source)
    try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: source)
    #expect(try again(seen) != seen)
  }
}
